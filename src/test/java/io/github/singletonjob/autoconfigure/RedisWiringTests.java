package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an application sees at start and in a run, with its leases in Redis.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class RedisWiringTests {

	private final RedisServer server = RedisServer.create().withPassword("secret").start();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, SingletonJobAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=redis", "singleton-job.namespace=shop",
				"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.server.port(),
				"spring.data.redis.password=secret");

	@AfterEach
	void stop() {
		this.server.close();
	}

	private List<String> keys() {
		return this.server.ask((commands) -> commands.keys("*"));
	}

	private RunOutcome run(SingletonJobs jobs, Runnable body) {
		return jobs.run("billing", (run) -> body.run()).outcome();
	}

	@Test
	void oneDependencyAndOnePropertyAreEnough() {
		this.runner.run((context) -> {
			assertThat(run(context.getBean(SingletonJobs.class), () -> {
				assertThat(keys()).hasSize(2).allMatch((key) -> key.startsWith("singleton-job:{"));
				assertThat(context.getBean(StringRedisTemplate.class).keys("*:lease:shop/billing")).hasSize(1);
			})).isEqualTo(RunOutcome.COMPLETED);
			assertThat(keys()).hasSize(2).allMatch((key) -> key.matches(".*}:(token|record):shop/billing"));
		});
	}

	@Test
	void thePrefixOfTheKeysCanBeChosen() {
		this.runner.withPropertyValues("singleton-job.redis.key-prefix=shop/")
			.run((context) -> run(context.getBean(SingletonJobs.class),
					() -> assertThat(keys()).hasSize(2).allMatch((key) -> key.startsWith("shop/{"))));
	}

	@Test
	void withoutAFenceThereIsAWarning(CapturedOutput output) {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Redis alone is not enough");
	}

	@Test
	void withAFenceThereIsNone(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + PostgresServer.shared().newDatabase(),
					"spring.datasource.username=" + PostgresServer.USERNAME)
			.run((context) -> assertThat(run(context.getBean(SingletonJobs.class), () -> {
			})).isEqualTo(RunOutcome.COMPLETED));
		assertThat(output).doesNotContain("Redis alone is not enough");
	}

	@Test
	void aWrongPasswordFailsTheStartAndSaysWhatToDo() {
		this.runner.withPropertyValues("spring.data.redis.password=wrong").run((context) -> {
			FailureAnalysis analysis = new UnusableDatabaseFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("refuses the credentials");
			assertThat(analysis.getAction()).contains("spring.data.redis.password");
		});
	}

	@Test
	void aRedisThatIsDownAtStartIsWaitedForAndNeverRunsUnleased() {
		this.server.kill();
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			boolean[] ran = new boolean[1];
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> run(jobs, () -> ran[0] = true))
				.withMessageContaining("Redis");
			assertThat(ran[0]).isFalse();
			this.server.start();
			Awaitility.await()
				.atMost(Duration.ofSeconds(10))
				.ignoreException(LeaseStoreException.class)
				.until(() -> run(jobs, () -> ran[0] = true) == RunOutcome.COMPLETED);
			assertThat(ran[0]).isTrue();
		});
	}

	@Test
	void aThousandRunsLeaveNothingBehind() {
		this.runner.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			for (int i = 0; i < 1_000; i++) {
				assertThat(run(jobs, () -> {
				})).isEqualTo(RunOutcome.COMPLETED);
			}
			assertThat(keys()).hasSize(2);
		});
		Awaitility.await().atMost(Duration.ofSeconds(15)).untilAsserted(() -> {
			assertThat(Thread.getAllStackTraces().keySet())
				.noneMatch((thread) -> thread.getName().startsWith("singleton-job"));
			assertThat(this.server.ask(RedisCommands::clientList).lines()).hasSize(1);
		});
	}

}
