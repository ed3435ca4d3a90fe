package io.github.singletonjob.rows;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.servers.PostgresServer;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * An application with JPA, Spring Data and JDBC.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(InvoiceEntities.class)
class InvoiceApplication {

	/** Starts it with the transaction fence or without. */
	static ConfigurableApplicationContext start(String url, boolean transactionFence, String... more) {
		List<String> properties = new ArrayList<>(List.of("spring.datasource.url=" + url,
				"spring.datasource.username=" + PostgresServer.USERNAME, "spring.datasource.hikari.maximum-pool-size=3",
				"spring.main.banner-mode=off", "spring.jpa.open-in-view=false", "singleton-job.store=in-memory",
				"singleton-job.namespace=shop", "singleton-job.fencing.enabled=" + transactionFence));
		properties.addAll(List.of(more));
		return new SpringApplicationBuilder(InvoiceApplication.class).web(WebApplicationType.NONE)
			.properties(properties.toArray(String[]::new))
			.run();
	}

}
