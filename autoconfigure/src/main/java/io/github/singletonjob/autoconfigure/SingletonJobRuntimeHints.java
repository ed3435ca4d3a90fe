package io.github.singletonjob.autoconfigure;

import java.io.Serializable;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

import io.github.singletonjob.JobRun;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What a native image cannot find out by itself: scripts that are read by name, and
 * interfaces that are implemented by proxies.
 */
class SingletonJobRuntimeHints implements RuntimeHintsRegistrar {

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
	}

}
