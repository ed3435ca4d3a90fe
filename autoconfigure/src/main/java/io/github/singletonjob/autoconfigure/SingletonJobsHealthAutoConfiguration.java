package io.github.singletonjob.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the health of singleton jobs. Spring Boot 3 has other types for
 * health, and so none of ours.
 */
@AutoConfiguration(after = SingletonJobAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration")
@ConditionalOnClass(name = { "org.springframework.boot.health.contributor.HealthIndicator",
		"org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator" })
@ConditionalOnBean(JobOperations.class)
public final class SingletonJobsHealthAutoConfiguration {

	/** Only read where there are such conditions. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnEnabledHealthIndicator("singletonjobs")
	static class HealthConfiguration {

		@Bean
		SingletonJobsHealthIndicator singletonJobsHealthIndicator(JobEngine engine, JobOperations operations,
				JobSettings settings) {
			return new SingletonJobsHealthIndicator(engine, operations, settings);
		}

	}

}
