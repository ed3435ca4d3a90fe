package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances whose clocks differ, on real servers: each fire time runs once.
 */
@Timeout(240)
class SkewedClocksTests {

	// A few hundred take minutes
	private static final int FIRE_TIMES = Integer.getInteger("tests.fire-times", 60);

	private static final List<Instant> RUNS = new CopyOnWriteArrayList<>();

	private final Instant first = Instant.parse("2026-03-01T00:00:00Z");

	private final String url = PostgresServer.shared().newDatabase();

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "redis", "etcd" })
	void eachFireTimeRunsOnceThoughClocksAreApart(String store) {
		RUNS.clear();
		instance(store, "true").run((fast) -> instance(store, "true").run((slow) -> {
			for (int hour = 0; hour < FIRE_TIMES; hour++) {
				Instant fireTime = this.first.plus(hour, ChronoUnit.HOURS);
				Duration skew = (hour % 2 == 0) ? Duration.ofSeconds(2) : Duration.ofMinutes(3);
				fire(fast, fireTime.plusMillis(3));
				// The slow one fires later, when the fast one's clock is past it
				fire(slow, fireTime.plusMillis(7));
				fire(fast, fireTime.plus(skew));
			}
		}));
		assertThat(RUNS).as("wrong data: fire times that ran").hasSize(FIRE_TIMES).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "redis", "etcd" })
	void eachFireTimeRunsOnceThoughBothFireAtOnce(String store) {
		RUNS.clear();
		instance(store, "false").run((one) -> instance(store, "false").run((two) -> {
			for (int hour = 0; hour < FIRE_TIMES; hour++) {
				Instant fireTime = this.first.plus(hour, ChronoUnit.HOURS);
				CompletableFuture
					.allOf(CompletableFuture.runAsync(() -> fire(one, fireTime)),
							CompletableFuture.runAsync(() -> fire(two, fireTime)))
					.join();
				// An hour passes: whoever was only in the other's way has made up for it
				int expected = hour + 1;
				Awaitility.await()
					.pollInterval(Duration.ofMillis(2))
					.atMost(Duration.ofSeconds(10))
					.until(() -> RUNS.size() >= expected);
			}
		}));
		assertThat(RUNS).as("wrong data: fire times that ran").hasSize(FIRE_TIMES).doesNotHaveDuplicates();
	}

	@Test
	void anExchangedStoreRepeatsNothing() {
		RUNS.clear();
		for (String store : new String[] { "postgres", "redis", "etcd", "postgres" }) {
			instance(store, "true").run((context) -> {
				fire(context, this.first);
				fire(context, this.first.plus(1, ChronoUnit.HOURS));
			});
		}
		assertThat(RUNS).as("wrong data: fire times that ran")
			.containsExactly(this.first, this.first.plus(1, ChronoUnit.HOURS));
	}

	private ApplicationContextRunner instance(String store, String fencing) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataRedisAutoConfiguration.class, SingletonJobAutoConfiguration.class))
			.withBean("taskScheduler", ThreadPoolTaskScheduler.class)
			.withBean(Statements.class)
			.withPropertyValues("singleton-job.store=" + store,
					"singleton-job.namespace=" + this.url.substring(this.url.lastIndexOf('/') + 1),
					"singleton-job.fencing.enabled=" + fencing, "spring.datasource.url=" + this.url,
					"spring.datasource.username=" + PostgresServer.USERNAME,
					"spring.data.redis.port=" + RedisServer.shared().port(),
					"singleton-job.etcd.endpoints=" + EtcdServer.shared().endpoint());
	}

	/** Calls as the scheduler does whose clock shows this time. */
	private static void fire(ApplicationContext context, Instant now) {
		context.getBean(ThreadPoolTaskScheduler.class).setClock(Clock.fixed(now, ZoneOffset.UTC));
		Statements bean = context.getBean(Statements.class);
		try {
			new ScheduledMethodRunnable(bean,
					AopUtils.selectInvocableMethod(Statements.class.getDeclaredMethod("send"), bean.getClass()))
				.run();
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Statements {

		@Scheduled(cron = "0 0 * * * *", zone = "UTC")
		@SingletonJob("statements")
		public void send() {
			RUNS.add(JobRun.current().fireTime().orElseThrow());
			LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
		}

	}

}
