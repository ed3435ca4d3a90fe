package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A replica of Redis is promoted that never got the last grant, and that would give a
 * lower token after it: the guarded database is not fooled.
 */
@Timeout(120)
class PromotedReplicaTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final RedisServer primary = RedisServer.create().start();

	private final RedisServer replica = RedisServer.create().start();

	@AfterEach
	void stop() {
		this.replica.close();
		this.primary.close();
	}

	@Test
	void aHolderWhoseGrantTheReplicaDoesNotKnowCannotWriteAfterItsSuccessor() {
		this.replica.replicaOf(this.primary);
		application(this.primary).run((context) -> {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			jdbc.sql("create table effect (id serial, token bigint)").update();
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			RunResult copied = jobs.run("billing", (run) -> write(jdbc, run));
			this.replica.awaitCopyOf(this.primary);
			// As if the primary had just died: what it grants from here on is lost
			this.replica.promote();
			aheadOfTheReplica(Duration.ofHours(1));
			application(this.replica).run((other) -> {
				RunResult[] successor = new RunResult[1];
				RunResult late = jobs.run("billing", (run) -> {
					successor[0] = CompletableFuture.supplyAsync(() -> writeIn(other))
						.orTimeout(30, TimeUnit.SECONDS)
						.join();
					write(jdbc, run);
				});
				assertThat(successor[0].outcome()).isEqualTo(RunOutcome.COMPLETED);
				assertThat(late.outcome()).isEqualTo(RunOutcome.LOST);
				assertThat(List.of(copied.token(), late.token(), successor[0].token())).as("wrong data: tokens")
					.isSorted()
					.doesNotHaveDuplicates();
				assertThat(jdbc.sql("select token from effect order by id").query(Long.class).list())
					.as("wrong data: rows")
					.containsExactly(copied.token(), successor[0].token());
			});
		});
	}

	/** As if the clock of the primary, from which tokens come, had been ahead. */
	private void aheadOfTheReplica(Duration time) {
		String token = this.primary.ask((commands) -> commands.keys("*:token:*")).get(0);
		this.primary.ask((commands) -> commands.incrby(token, time.toMillis()));
	}

	private static RunResult writeIn(ApplicationContext context) {
		JdbcClient jdbc = context.getBean(JdbcClient.class);
		return context.getBean(SingletonJobs.class).run("billing", (run) -> write(jdbc, run));
	}

	private static void write(JdbcClient jdbc, JobRun run) {
		jdbc.sql("insert into effect (token) values (?)").param(run.token()).update();
	}

	private ApplicationContextRunner application(RedisServer server) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
					DataRedisAutoConfiguration.class, SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=redis", "singleton-job.namespace=shop",
					"spring.datasource.url=" + this.url, "spring.datasource.username=" + PostgresServer.USERNAME,
					"spring.data.redis.port=" + server.port());
	}

}
