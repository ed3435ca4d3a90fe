package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.servers.PostgresServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stale holder whose write a real database refuses is counted.
 */
@Timeout(120)
class StaleWriteMetricTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				JdbcClientAutoConfiguration.class, SingletonJobAutoConfiguration.class,
				SingletonJobObservabilityAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withPropertyValues("singleton-job.store=postgres", "singleton-job.namespace=shop",
				"spring.datasource.url=" + this.url, "spring.datasource.username=" + PostgresServer.USERNAME,
				"spring.datasource.password=any");

	@Test
	void aRefusedWriteAndItsLostRunAreCounted() {
		this.runner.run((context) -> {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			jdbc.sql("create table charge (customer int)").update();
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				beginNewerRun();
				jdbc.sql("insert into charge values (1)").update();
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(result.failure()).hasStackTraceContaining(StaleTokenException.class.getName());
			assertThat(jdbc.sql("select count(*) from charge").query(Long.class).single()).isZero();
			assertThat(count(context.getBean(MeterRegistry.class), "singleton.job.stale.writes")).isEqualTo(1);
			Awaitility.await()
				.atMost(20, TimeUnit.SECONDS)
				.until(() -> count(context.getBean(MeterRegistry.class), "singleton.job.lost") == 1);
		});
	}

	/** As the raise of another holder does it. */
	private void beginNewerRun() throws SQLException {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement()) {
			assertThat(statement.executeUpdate("update singleton_job set token = token + 1, owner = 'newer'"))
				.isEqualTo(1);
		}
	}

	private static double count(MeterRegistry registry, String name) {
		return registry.get(name).tag("job", "billing").counter().count();
	}

}
