package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FenceSchema;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.Fence;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * The fence in the guarded database.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.jdbc.datasource.DelegatingDataSource")
@ConditionalOnBooleanProperty(name = "singleton-job.fencing.enabled", matchIfMissing = true)
class FencingConfiguration {

	@Bean
	static FencedDataSourcePostProcessor singletonJobDataSourcePostProcessor(
			ConfigurableListableBeanFactory beanFactory, Environment environment) {
		return new FencedDataSourcePostProcessor(beanFactory, environment);
	}

	@Bean
	@Conditional(OnGuardedDataSourceCondition.class)
	@ConditionalOnMissingBean(Fence.class)
	@DependsOnDatabaseInitialization
	PreparedFence singletonJobFence(SingletonJobProperties properties, ConfigurableListableBeanFactory beanFactory,
			Environment environment, FencedDataSourcePostProcessor guards) {
		String name = GuardedDataSource.find(beanFactory, environment);
		if (name == null) {
			throw new IllegalStateException("The guarded DataSource has disappeared");
		}
		DataSource dataSource = beanFactory.getBean(name, DataSource.class);
		if (!guards.hasGuarded(name) && !FencedDataSources.isGuarded(dataSource)) {
			throw new InvalidJobException(
					"The DataSource '" + name + "' was created before it could be guarded: a stale holder could write.",
					"A BeanPostProcessor or BeanFactoryPostProcessor depends on it, directly or through other beans:"
							+ " let that take an ObjectProvider, or @Lazy.");
		}
		FenceSchema schema = new FenceSchema(dataSource);
		List<Runnable> steps = new ArrayList<>();
		if (properties.jdbc().initializeSchema() == SchemaInitialization.ALWAYS) {
			steps.add(schema::initialize);
		}
		steps.add(schema::verify);
		return new PreparedFence(new JdbcFence(dataSource),
				new Preparation("The guarded database (DataSource bean '" + name + "')", steps));
	}

}
