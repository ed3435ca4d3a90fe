package io.github.singletonjob.autoconfigure;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the actuator endpoint {@code singletonjobs}.
 */
@AutoConfiguration(after = SingletonJobAutoConfiguration.class)
@ConditionalOnClass(name = { "org.springframework.boot.actuate.endpoint.annotation.Endpoint",
		"org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint" })
@ConditionalOnBean(JobOperations.class)
public final class SingletonJobsEndpointAutoConfiguration {

	/** Only read where there are such conditions. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnAvailableEndpoint(SingletonJobsEndpoint.class)
	static class EndpointConfiguration {

		@Bean
		SingletonJobsEndpoint singletonJobsEndpoint(JobOperations operations, JobSettings settings,
				SingletonJobProperties properties) {
			return new SingletonJobsEndpoint(operations, settings, HolderName.of(properties));
		}

	}

}
