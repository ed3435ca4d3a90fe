package io.github.singletonjob.autoconfigure;

import java.io.Serializable;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Set;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * What a native image cannot find out: scripts that are read by name, interfaces that are
 * implemented by proxies, and the methods of jobs, which a stand-by calls by reflection.
 */
class SingletonJobRuntimeHints implements RuntimeHintsRegistrar, BeanRegistrationAotProcessor {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/singletonjob/fencing/*.sql")
			.registerPattern("io/github/singletonjob/postgres/*.sql")
			.registerPattern("io/github/singletonjob/redis/*.lua");
		hints.proxies()
			.registerJdkProxy(JobRun.class)
			.registerJdkProxy(JobRun.class, Serializable.class)
			.registerJdkProxy(Connection.class)
			.registerJdkProxy(Statement.class)
			.registerJdkProxy(PreparedStatement.class)
			.registerJdkProxy(CallableStatement.class)
			.registerJdkProxy(ResultSet.class)
			.registerJdkProxy(DatabaseMetaData.class);
		String dataSources = "org.springframework.jdbc.datasource.";
		hints.reflection()
			.registerTypeIfPresent(classLoader, dataSources + "lookup.AbstractRoutingDataSource",
					(type) -> type.withField("resolvedDataSources").withField("resolvedDefaultDataSource"))
			.registerTypeIfPresent(classLoader, dataSources + "LazyConnectionDataSourceProxy",
					(type) -> type.withField("readOnlyDataSource"));
	}

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> type = ClassUtils.getUserClass(registeredBean.getBeanClass());
		Set<Method> jobs = AnnotationUtils.isCandidateClass(type, SingletonJob.class)
				? JobMethodValidator.jobMethods(type) : Set.of();
		if (jobs.isEmpty()) {
			return null;
		}
		return (context, code) -> jobs
			.forEach((job) -> context.getRuntimeHints().reflection().registerMethod(job, ExecutableMode.INVOKE));
	}

}
