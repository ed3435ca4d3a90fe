package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Duration;

import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.runtime.RunListener;
import io.github.singletonjob.runtime.RunScope;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.scheduling.config.ScheduledTaskHolder;

/**
 * Auto-configuration of singleton jobs.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration" })
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@EnableConfigurationProperties(SingletonJobProperties.class)
@Import({ SingletonJobAutoConfiguration.ProxyCreatorRegistrar.class, PostgresStoreConfiguration.class,
		RedisStoreConfiguration.class, EtcdStoreConfiguration.class, InMemoryStoreConfiguration.class,
		FencingConfiguration.class, SpringDataConfiguration.class, RunScopeConfiguration.class,
		RunRequestConfiguration.class })
public final class SingletonJobAutoConfiguration {

	@Bean
	static JobRunInjection singletonJobRunInjection() {
		return new JobRunInjection();
	}

	@Bean
	static JobErrorHandler.SchedulerPostProcessor singletonJobSchedulerPostProcessor() {
		return new JobErrorHandler.SchedulerPostProcessor();
	}

	@Bean
	static SettingsValidator singletonJobSettingsValidator() {
		return new SettingsValidator();
	}

	@Bean
	static JobMethodValidator singletonJobMethodValidator() {
		return new JobMethodValidator();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SingletonJobAdvisor singletonJobAdvisor(BeanFactory beanFactory) {
		ObjectProvider<JobCalls> calls = beanFactory.getBeanProvider(JobCalls.class);
		ObjectProvider<JobDefinitions> definitions = beanFactory.getBeanProvider(JobDefinitions.class);
		return new SingletonJobAdvisor(new SingletonJobInterceptor(calls::getObject, definitions::getObject));
	}

	@Bean
	JobSettings singletonJobSettings(SingletonJobProperties properties, Environment environment) {
		return new JobSettings(properties, environment);
	}

	@Bean
	JobNames singletonJobNames(BeanFactory beanFactory) {
		return new JobNames(beanFactory);
	}

	@Bean
	JobDefinitions singletonJobDefinitions(JobSettings settings, ConfigurableListableBeanFactory beanFactory,
			JobNames names) {
		return new JobDefinitions(settings, beanFactory, names);
	}

	@Bean
	StandByJobs singletonStandByJobs(BeanFactory beanFactory) {
		return new StandByJobs(beanFactory);
	}

	@Bean
	JobValidator singletonJobValidator(ConfigurableListableBeanFactory beanFactory, JobDefinitions definitions,
			JobSettings settings, StandByJobs standByJobs) {
		return new JobValidator(beanFactory, definitions, settings, standByJobs);
	}

	@Bean
	JobCalls singletonJobCalls(JobEngine engine, BeanFactory beanFactory, ObjectProvider<ScheduledTaskHolder> tasks) {
		return new JobCalls(engine, new Firings(beanFactory, tasks));
	}

	@Bean
	FencingReport singletonJobFencingReport(ConfigurableListableBeanFactory beanFactory, Environment environment,
			SingletonJobProperties properties) {
		return new FencingReport(beanFactory, environment, properties);
	}

	@Bean
	RunCompanions singletonJobRunCompanions(ObjectProvider<RunListener> listeners, ObjectProvider<RunScope> scopes) {
		return new RunCompanions(RunListener.all(listeners.orderedStream().toList()), scopes.orderedStream().toList());
	}

	@Bean
	JobEngine singletonJobEngine(SingletonJobProperties properties, ObjectProvider<LeaseStore> stores,
			ObjectProvider<Fence> fences, RunCompanions companions, StandByJobs standByJobs, Environment environment) {
		LeaseStore store = stores.getIfAvailable(() -> {
			throw new NoLeaseStoreException(properties.store());
		});
		Duration shutdownTimeout = Binder.get(environment)
			.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
			.orElse(Duration.ofSeconds(30));
		return new JobEngine(store, fences.getIfAvailable(), companions, HolderName.of(properties), shutdownTimeout,
				standByJobs::all);
	}

	@Bean
	@ConditionalOnBooleanProperty("singleton-job.report-unmarked")
	UnmarkedReport singletonJobUnmarkedReport(ConfigurableListableBeanFactory beanFactory) {
		return new UnmarkedReport(beanFactory);
	}

	@Bean
	@Order(Ordered.LOWEST_PRECEDENCE)
	RunEvents singletonJobRunEvents(ApplicationEventPublisher events) {
		return new RunEvents(events);
	}

	@Bean
	@Order(0)
	RunHistory singletonJobRunHistory() {
		return new RunHistory(Clock.systemUTC());
	}

	@Bean
	JobOperations singletonJobOperations(JobEngine engine, JobSettings settings, JobDefinitions definitions,
			RunHistory history, JobNames names) {
		return new JobOperations(engine, settings, definitions, history, names);
	}

	@Bean
	@ConditionalOnMissingBean
	SingletonJobs singletonJobs(JobEngine engine, JobSettings settings, JobOperations operations) {
		return new DefaultSingletonJobs(engine, settings, operations);
	}

	/**
	 * Makes sure that something creates proxies, also where {@code spring.aop.auto} is
	 * off.
	 */
	static class ProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
