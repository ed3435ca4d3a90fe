package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FenceSchema;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.Fence;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

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
	@Conditional(OnGuardedDataSource.class)
	@ConditionalOnMissingBean(Fence.class)
	@DependsOnDatabaseInitialization
	@Nullable PreparedFence singletonJobFence(SingletonJobProperties properties, ConfigurableListableBeanFactory beanFactory,
			Environment environment, FencedDataSourcePostProcessor guards) {
		String name = FencedDataSourcePostProcessor.find(beanFactory, environment);
		if (name == null) {
			throw new IllegalStateException("The guarded DataSource has disappeared");
		}
		DataSource dataSource = beanFactory.getBean(name, DataSource.class);
		boolean guarded = FencedDataSources.isGuarded(dataSource);
		if (!guarded && FencedDataSources.isEnlisted(dataSource)) {
			// The report at start names it
			return null;
		}
		if (!guarded && !guards.hasGuarded(name)) {
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

	/**
	 * Matches when there is a DataSource to guard.
	 */
	static class OnGuardedDataSource extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
			String name = (beanFactory != null)
					? FencedDataSourcePostProcessor.find(beanFactory, context.getEnvironment()) : null;
			return new ConditionOutcome(name != null, "guarded DataSource: " + name);
		}

	}

}
