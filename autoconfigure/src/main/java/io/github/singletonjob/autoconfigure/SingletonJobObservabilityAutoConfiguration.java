package io.github.singletonjob.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Auto-configuration of what is to be seen of jobs from outside: observations, metrics
 * and the context of log lines. Each is there if its library is.
 */
@AutoConfiguration(after = SingletonJobAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnBean(JobOperations.class)
public final class SingletonJobObservabilityAutoConfiguration {

	@Bean
	JobTags singletonJobTags(ObjectProvider<JobOperations> operations, JobNames names) {
		return new JobTags(() -> operations.getObject().declaredNames(), names::declared);
	}

	/** Observations. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE)
		RunObservations singletonJobObservations(ObservationRegistry registry, JobTags tags, JobSettings settings) {
			return new RunObservations(registry, tags, settings.storeName());
		}

	}

	/** Metrics. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class MetricsConfiguration {

		@Bean
		@Order(1)
		JobMetrics singletonJobMetrics(MeterRegistry registry, JobTags tags, ObjectProvider<JobEngine> engine) {
			return new JobMetrics(registry, tags, () -> engine.getObject().held());
		}

	}

	/** The context of log lines. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.slf4j.MDC")
	static class LogContextConfiguration {

		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE + 1)
		JobLogContext singletonJobLogContext() {
			return new JobLogContext();
		}

	}

}
