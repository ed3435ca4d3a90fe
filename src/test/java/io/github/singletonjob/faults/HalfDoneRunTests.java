package io.github.singletonjob.faults;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.KillArgs;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Faults that take the lease of a run and the connections of its body at once. The job
 * writes twenty rows, a transaction each, and does not look at what is there: nothing
 * repairs a run that was cut short, except another run for its fire time. Two instances,
 * a few rounds for each fault, or as many as {@code -Dtests.faults=30} says.
 */
@Timeout(1200)
class HalfDoneRunTests {

	private static final int ROUNDS = Integer.getInteger("tests.faults", 3);

	private static final int STEPS = 20;

	private final PostgresServer postgres = PostgresServer.create().start();

	private final String url = this.postgres.newDatabase();

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	@AfterEach
	void stop() {
		this.instances.forEach(ConfigurableApplicationContext::close);
		this.postgres.close();
	}

	@Test
	void aRestartOfPostgresLeavesNoFireTimeHalfDone() {
		start("postgres");
		repeat("restart of Postgres", () -> this.postgres.restart(Stop.FAST));
	}

	@Test
	void theEndOfAllSessionsOfPostgresLeavesNoFireTimeHalfDone() {
		start("postgres");
		repeat("end of all sessions", () -> endSessions("true"));
	}

	@Test
	void aRestartOfRedisAndTheEndOfAllSessionsLeaveNoFireTimeHalfDone() {
		try (RedisServer redis = RedisServer.create().start()) {
			start("redis", "--spring.data.redis.port=" + redis.port());
			repeat("restart of Redis, and end of all sessions", () -> {
				redis.kill();
				endSessions("true");
				redis.start();
			});
		}
	}

	/** Only of the holder, because the other instance takes over within milliseconds. */
	@Test
	void aDeletedKeyOfRedisAndTheEndOfTheConnectionsOfItsHolderLeaveNoFireTimeHalfDone() {
		try (RedisServer redis = RedisServer.create().start()) {
			start("redis", "--spring.data.redis.port=" + redis.port());
			repeat("deleted key of Redis, and end of the connections of its holder", () -> {
				String holder = holder();
				redis.ask((commands) -> commands.del(commands.keys("*:lease:*").toArray(String[]::new)));
				redis.ask((commands) -> commands.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
				endSessions("application_name = '" + holder + "'");
			});
		}
	}

	@Test
	void aRevokedLeaseOfEtcdAndTheEndOfTheSessionsOfItsHolderLeaveNoFireTimeHalfDone() {
		assumeTrue(EtcdServer.isAvailable());
		try (EtcdServer etcd = EtcdServer.create().start()) {
			start("etcd", "--singleton-job.etcd.endpoints=" + etcd.endpoint());
			repeat("revoked lease of etcd, and end of the sessions of its holder", () -> {
				String holder = holder();
				etcd.api().leasesOfKeys("singleton-job/shop/lease/").forEach(etcd.api()::revoke);
				endSessions("application_name = '" + holder + "'");
			});
		}
	}

	/** Leases survive it, so the sessions are left alone: nothing makes a body fail. */
	@Test
	void aRestartOfEtcdLeavesNoFireTimeHalfDone() {
		assumeTrue(EtcdServer.isAvailable());
		try (EtcdServer etcd = EtcdServer.create().start()) {
			start("etcd", "--singleton-job.etcd.endpoints=" + etcd.endpoint());
			repeat("restart of etcd", () -> {
				etcd.kill();
				etcd.start();
			});
		}
	}

	private void start(String store, String... arguments) {
		execute("create table step (fire_time timestamptz, token bigint, number int)");
		List<String> all = new ArrayList<>(List.of("--singleton-job.store=" + store, "--singleton-job.namespace=shop",
				"--singleton-job.lease.ttl=2s", "--spring.datasource.url=" + this.url,
				"--spring.datasource.username=" + PostgresServer.USERNAME,
				"--spring.datasource.hikari.maximum-pool-size=3", "--spring.datasource.hikari.connection-timeout=5000",
				"--spring.main.banner-mode=off", "--logging.level.org.springframework.scheduling=off",
				"--logging.level.com.zaxxer=error"));
		all.addAll(List.of(arguments));
		for (int i = 0; i < 2; i++) {
			SpringApplication application = new SpringApplication(Instance.class);
			application.setWebApplicationType(WebApplicationType.NONE);
			all.add("--singleton-job.holder=server-" + i);
			all.add("--spring.datasource.hikari.data-source-properties.ApplicationName=server-" + i);
			this.instances.add(application.run(all.toArray(String[]::new)));
		}
	}

	private void repeat(String fault, Runnable happens) {
		for (int round = 1; round <= ROUNDS; round++) {
			Instant fireTime = awaitStep(ThreadLocalRandom.current().nextInt(2, STEPS - 5));
			happens.run();
			await().until(
					() -> number("select count(*) from singleton_job_fire_time where completed >= ?", fireTime) == 1);
			assertThat(number("select coalesce(max(steps), 0) from (select count(*) as steps from step"
					+ " where fire_time = ? group by token) runs", fireTime))
				.as("steps of the run that counts as completed, round %s of %s", round, fault)
				.isEqualTo(STEPS);
		}
		int lost = this.instances.stream().mapToInt((each) -> each.getBean(Ends.class).lost.get()).sum();
		int failed = this.instances.stream().mapToInt((each) -> each.getBean(Ends.class).failed.get()).sum();
		System.out.printf("%d times %s: %d runs lost, %d failed, none half done%n", ROUNDS, fault, lost, failed);
	}

	/** Waits until a run has come so far, and answers what it stands for. */
	private Instant awaitStep(int number) {
		return await().pollInterval(Duration.ofMillis(10))
			.until(() -> query(
					"select max(fire_time) from step s where number = ? and not exists (select 1 from step t"
							+ " where t.fire_time = s.fire_time and t.number > s.number + 2)",
					number, OffsetDateTime.class), Optional::isPresent)
			.map(OffsetDateTime::toInstant)
			.orElseThrow();
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(60)).ignoreExceptions();
	}

	/** Who has begun the last run. */
	private String holder() {
		return query("select holder from singleton_job where name = ?", "billing", String.class).orElseThrow();
	}

	/** Of the guarded database, all at once. */
	private void endSessions(String which) {
		execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
				+ " and pid <> pg_backend_pid() and " + which);
	}

	private void execute(String sql) {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	private long number(String sql, Instant fireTime) {
		return query(sql, fireTime.atOffset(ZoneOffset.UTC), Long.class).orElseThrow();
	}

	private <T> Optional<T> query(String sql, Object parameter, Class<T> type) {
		try (Connection connection = PostgresServer.connect(this.url);
				var statement = connection.prepareStatement(sql)) {
			statement.setObject(1, parameter);
			try (var rows = statement.executeQuery()) {
				rows.next();
				@Nullable T value = rows.getObject(1, type);
				return Optional.ofNullable(value);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	@EnableScheduling
	@Import({ Billing.class, Ends.class })
	static class Instance {

	}

	static class Billing {

		private final JdbcClient jdbc;

		private final TransactionTemplate transactions;

		private final JobRun run;

		private final CountDownLatch never = new CountDownLatch(1);

		Billing(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run) {
			this.jdbc = jdbc;
			this.transactions = new TransactionTemplate(transactions);
			this.run = run;
		}

		@Scheduled(cron = "* * * * * *")
		@SingletonJob("billing")
		void charge() throws InterruptedException {
			OffsetDateTime fireTime = this.run.fireTime().orElseThrow().atOffset(ZoneOffset.UTC);
			for (int i = 1; i <= STEPS; i++) {
				int number = i;
				this.transactions.executeWithoutResult((status) -> this.jdbc.sql("insert into step values (?, ?, ?)")
					.params(fireTime, this.run.token(), number)
					.update());
				assertThat(this.never.await(20, TimeUnit.MILLISECONDS)).isFalse();
			}
		}

	}

	static class Ends {

		private final AtomicInteger lost = new AtomicInteger();

		private final AtomicInteger failed = new AtomicInteger();

		@EventListener
		void lost(JobRunEvent.Lost event) {
			this.lost.incrementAndGet();
		}

		@EventListener
		void failed(JobRunEvent.Failed event) {
			this.failed.incrementAndGet();
		}

	}

}
