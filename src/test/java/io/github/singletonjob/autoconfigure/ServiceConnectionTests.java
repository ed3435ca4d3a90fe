package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.ServerImage;
import io.github.singletonjob.servers.SharedServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Applications that are told where their servers are by a bean, as Spring Boot does it
 * for Testcontainers and Docker Compose, and not by properties.
 */
@Timeout(180)
class ServiceConnectionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ServiceConnectionAutoConfiguration.class,
				DataSourceAutoConfiguration.class, SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.namespace=shop");

	private static void runs(ApplicationContextRunner application) {
		application.run((context) -> assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
		}).outcome()).isEqualTo(RunOutcome.COMPLETED));
	}

	private static ApplicationContextRunner withRedis(ApplicationContextRunner application) {
		return application.withPropertyValues("singleton-job.store=redis")
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));
	}

	@Test
	void detailsOfADatabaseAreEnoughForLeasesAndFence() {
		String url = PostgresServer.shared().newDatabase();
		runs(this.runner.withPropertyValues("singleton-job.store=postgres")
			.withBean(JdbcConnectionDetails.class, () -> new Database(url)));
	}

	@Test
	void detailsOfARedisAreEnoughForLeases() {
		String url = PostgresServer.shared().newDatabase();
		runs(withRedis(this.runner).withBean(JdbcConnectionDetails.class, () -> new Database(url))
			.withBean(DataRedisConnectionDetails.class, Redis::new));
	}

	@Test
	void aContainerOfPostgresIsEnoughForLeasesAndFence() {
		assumeTrue(SharedServers.hasContainersOf(ServerImage.POSTGRES));
		runs(this.runner.withPropertyValues("singleton-job.store=postgres")
			.withUserConfiguration(PostgresContainer.class));
	}

	@Test
	void aContainerOfRedisIsEnoughForLeases() {
		assumeTrue(SharedServers.hasContainersOf(ServerImage.POSTGRES));
		assumeTrue(SharedServers.hasContainersOf(ServerImage.REDIS));
		runs(withRedis(this.runner).withUserConfiguration(PostgresContainer.class, RedisContainer.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class PostgresContainer {

		@Bean
		@ServiceConnection
		PostgreSQLContainer postgres() {
			return new PostgreSQLContainer(
					DockerImageName.parse(ServerImage.POSTGRES.reference()).asCompatibleSubstituteFor("postgres"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RedisContainer {

		@Bean
		@ServiceConnection(name = "redis")
		GenericContainer<?> redis() {
			return new GenericContainer<>(ServerImage.REDIS.reference()).withExposedPorts(6379);
		}

	}

	/**
	 * Where a database is.
	 *
	 * @param url its JDBC URL
	 */
	private record Database(String url) implements JdbcConnectionDetails {

		@Override
		public String getUsername() {
			return PostgresServer.USERNAME;
		}

		@Override
		public String getPassword() {
			return "";
		}

		@Override
		public String getJdbcUrl() {
			return this.url;
		}

	}

	/**
	 * Where a Redis is.
	 */
	private static final class Redis implements DataRedisConnectionDetails {

		@Override
		public Standalone getStandalone() {
			return Standalone.of("127.0.0.1", RedisServer.shared().port());
		}

	}

}
