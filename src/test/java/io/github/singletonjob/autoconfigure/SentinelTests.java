package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.RedisSentinel;
import io.github.singletonjob.servers.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis whose Sentinel promotes a replica.
 */
@Timeout(120)
class SentinelTests {

	private static final Duration TTL = Duration.ofSeconds(12);

	@Test
	void aHeldLeaseSurvivesTheFailOverAndTokensGoUp() {
		try (RedisServer primary = RedisServer.create().start(); RedisServer replica = RedisServer.create().start()) {
			replica.replicaOf(primary);
			try (RedisSentinel sentinel = RedisSentinel.watching("leases", primary, 1)) {
				application(sentinel).run((context) -> application(sentinel).run((other) -> {
					SingletonJobs jobs = context.getBean(SingletonJobs.class);
					SingletonJobs others = other.getBean(SingletonJobs.class);
					long before = token(jobs);
					long[] during = new long[1];
					RunResult result = jobs.run("billing", JobOptions.defaults().withTtl(TTL), (run) -> {
						during[0] = run.token();
						replica.awaitCopyOf(primary);
						primary.kill();
						awaitRenewal(run);
						run.ensureHeld();
						assertThat(
								CompletableFuture.supplyAsync(() -> run(others)).orTimeout(30, TimeUnit.SECONDS).join())
							.isEqualTo(RunOutcome.SKIPPED_HELD);
					});
					assertThat(result.failure()).isNull();
					assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
					assertThat(during[0]).isGreaterThan(before);
					assertThat(token(others)).isGreaterThan(during[0]);
					List<String> keys = replica.ask((commands) -> commands.keys("*:token:*"));
					assertThat(keys).hasSize(1);
				}));
			}
		}
	}

	private static void awaitRenewal(JobRun run) {
		long start = System.nanoTime();
		Duration before = run.remaining().plusSeconds(1);
		Awaitility.await()
			.atMost(TTL)
			.until(() -> run.remaining().plusNanos(System.nanoTime() - start).compareTo(before) > 0);
	}

	private static ApplicationContextRunner application(RedisSentinel sentinel) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DataRedisAutoConfiguration.class, SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=redis", "singleton-job.namespace=shop",
					"spring.data.redis.sentinel.master=leases",
					"spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinel.port());
	}

	/** Its connection may have to be opened anew. */
	private static RunOutcome run(SingletonJobs jobs) {
		return Awaitility.await()
			.pollInSameThread()
			.atMost(Duration.ofSeconds(20))
			.ignoreException(LeaseStoreException.class)
			.until(() -> jobs.run("billing", (run) -> {
			}).outcome(), Objects::nonNull);
	}

	/** The token of a run, as soon as there is an answer. */
	private static long token(SingletonJobs jobs) {
		long[] token = new long[1];
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.ignoreException(LeaseStoreException.class)
			.until(() -> jobs.run("billing", (run) -> token[0] = run.token()).outcome() == RunOutcome.COMPLETED);
		return token[0];
	}

}
