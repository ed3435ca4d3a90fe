package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PgBouncerServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.PostgresServer.Stop;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an application sees at start and in a run, with one Postgres for leases and data.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class PostgresWiringTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final ApplicationContextRunner runner = runner(this.url);

	@Test
	void oneDependencyAndOnePropertyAreEnough() {
		this.runner.run((context) -> {
			assertThat(FencedDataSources.isGuarded(context.getBean(DataSource.class))).isTrue();
			assertThat(context).hasSingleBean(HikariDataSource.class);
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> {
				assertThat(number("select token from singleton_job where name = 'billing'")).isEqualTo(run.token());
				assertThat(number("select token from singleton_job_lease where name = 'billing'"))
					.isEqualTo(run.token());
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		});
	}

	@Test
	void jobNamesMayContainAnything() {
		this.runner.run((context) -> {
			for (String name : new String[] { "o'reilly \"quoted\"", "a:b::c", "{curly} ?", "ünïcödé 請求書 🧾",
					"x".repeat(300) }) {
				RunResult result = context.getBean(SingletonJobs.class)
					.run(name,
							(run) -> context.getBean(JdbcClient.class)
								.sql("select count(*) from singleton_job where name = ?")
								.param(name)
								.query(Long.class)
								.single());
				assertThat(result.outcome()).as(name).isEqualTo(RunOutcome.COMPLETED);
			}
		});
	}

	@Test
	void missingTablesFailTheStartWhenTheyAreNotToBeCreated() {
		ApplicationContextRunner never = this.runner.withPropertyValues("singleton-job.jdbc.initialize-schema=never");
		never.run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("singleton_job_lease").contains("does not exist");
			assertThat(analysis.getAction()).contains("initialize-schema");
		});
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		never.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aRoleThatMayNotCreateTablesIsToldWhatToDo() throws SQLException {
		role("reader");
		this.runner.withPropertyValues("spring.datasource.username=reader").run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("could not be created");
			assertThat(analysis.getAction()).contains("administrator").containsIgnoringCase("create table");
		});
	}

	@Test
	void aRoleThatMayNotUpdateTheTablesIsToldWhatToDo() throws SQLException {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		role("looker");
		execute("grant select on singleton_job_lease, singleton_job_lease_fire_time, singleton_job, singleton_job_fire_time"
				+ " to looker");
		this.runner.withPropertyValues("spring.datasource.username=looker").run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("may not use its table");
			assertThat(analysis.getAction()).containsIgnoringCase("grant");
		});
		execute("grant select, insert, update on singleton_job_lease, singleton_job_lease_fire_time to looker");
		this.runner.withPropertyValues("spring.datasource.username=looker").run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("singleton_job");
			assertThat(analysis.getAction()).containsIgnoringCase("grant");
		});
		execute("grant select, insert, update on singleton_job, singleton_job_fire_time to looker");
		this.runner.withPropertyValues("spring.datasource.username=looker")
			.run((context) -> assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
			}).outcome()).isEqualTo(RunOutcome.COMPLETED));
	}

	@Test
	void aTransactionPoolerInBetweenFailsTheStart() {
		PgBouncerServer.assumeAvailable();
		try (PgBouncerServer bouncer = PgBouncerServer.start(this.url, 4)) {
			runner(bouncer.jdbcUrl()).run((context) -> {
				FailureAnalysis analysis = analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("transaction pooler");
				assertThat(analysis.getAction()).contains("@SingletonJobDataSource");
			});
		}
	}

	@Test
	void aStatementPoolerInBetweenFailsTheStart() {
		try (PgBouncerServer bouncer = PgBouncerServer.start(this.url, 4, "statement")) {
			runner(bouncer.jdbcUrl()).run((context) -> {
				FailureAnalysis analysis = analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("pooler");
				assertThat(analysis.getAction()).contains("@SingletonJobDataSource");
			});
		}
	}

	@Test
	void theStoreHasTheCredentialsThatThePoolHasNow() throws SQLException {
		role("before");
		role("after");
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		execute("grant all on all tables in schema public to before, after");
		this.runner.withPropertyValues("spring.datasource.username=before", "singleton-job.lease.ttl=3s")
			.run((context) -> {
				SingletonJobs jobs = context.getBean(SingletonJobs.class);
				assertThat(run(jobs)).isEqualTo(RunOutcome.COMPLETED);
				context.getBean(HikariDataSource.class).getHikariConfigMXBean().setUsername("after");
				execute("alter role before nologin");
				execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'before'"
						+ " and application_name like 'singleton-job%'");
				Awaitility.await()
					.atMost(Duration.ofSeconds(30))
					.ignoreExceptionsInstanceOf(LeaseStoreException.class)
					.until(() -> run(jobs) == RunOutcome.COMPLETED);
			});
	}

	private static RunOutcome run(SingletonJobs jobs) {
		return jobs.run("billing", (run) -> {
		}).outcome();
	}

	@Test
	void noConnectionOfThePoolIsBroken(CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
			.withUserConfiguration(OwnPool.class)
			.withPropertyValues("singleton-job.store=postgres", "singleton-job.namespace=shop",
					"spring.datasource.url=" + this.url)
			.run((context) -> {
				assertThat(run(context.getBean(SingletonJobs.class))).isEqualTo(RunOutcome.COMPLETED);
				assertThat(number("select count(*) from pg_stat_activity where application_name = 'own pool'"
						+ " and datname = current_database()"))
					.isEqualTo(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getTotalConnections());
			});
		assertThat(output).doesNotContain("marked as broken");
	}

	@Test
	void aDatabaseThatIsDownAtStartIsWaitedForAndNeverRunsUnleased() {
		try (PostgresServer postgres = PostgresServer.create().start()) {
			String own = postgres.newDatabase();
			postgres.stop(Stop.FAST);
			runner(own)
				.withPropertyValues("spring.datasource.hikari.initialization-fail-timeout=-1",
						"spring.datasource.hikari.connection-timeout=1000")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					SingletonJobs jobs = context.getBean(SingletonJobs.class);
					boolean[] ran = new boolean[1];
					assertThatExceptionOfType(LeaseStoreException.class)
						.isThrownBy(() -> jobs.run("billing", (run) -> ran[0] = true))
						.withMessageContaining("Postgres");
					assertThat(ran[0]).isFalse();
					postgres.start();
					Awaitility.await()
						.atMost(Duration.ofSeconds(30))
						.ignoreExceptionsInstanceOf(LeaseStoreException.class)
						.until(() -> jobs.run("billing", (run) -> ran[0] = true).outcome() == RunOutcome.COMPLETED);
					assertThat(ran[0]).isTrue();
				});
		}
	}

	@Test
	void theTablesAreCreatedAfterThoseOfTheApplication() throws SQLException {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceInitializationAutoConfiguration.class))
			.withPropertyValues("spring.sql.init.mode=always", "spring.sql.init.schema-locations=classpath:first.sql")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(number("select count(*) from first where lease is null and fence is null")).isEqualTo(1);
	}

	@Test
	void whatIsNotFencedIsSaidAtStart(CapturedOutput output) {
		this.runner.withUserConfiguration(SecondDataSource.class)
			.withPropertyValues("singleton-job.fencing.data-source=second")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("Not fenced").contains("DataSource bean 'first'");
			});
		this.runner.withUserConfiguration(SecondDataSource.class)
			.withPropertyValues("singleton-job.fencing.data-source=second", "singleton-job.fencing.required=true")
			.run((context) -> assertThat(context.getStartupFailure()).hasMessageContaining("DataSource bean 'first'"));
		this.runner.withPropertyValues("singleton-job.fencing.data-source=third")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("no DataSource bean has that name"));
		this.runner.withPropertyValues("singleton-job.fencing.required=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void thousandsOfRunsLeaveNothingBehind() {
		this.runner.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			execute("create table effect (token bigint)");
			long threads = ownThreads();
			int rounds = Integer.getInteger("tests.rounds", 2_000);
			for (int i = 0; i < rounds; i++) {
				assertThat(jobs
					.run("often", (run) -> jdbc.sql("insert into effect values (?)").param(run.token()).update())
					.outcome()).isEqualTo(RunOutcome.COMPLETED);
			}
			assertThat(number("select count(distinct token) from effect")).isEqualTo(rounds);
			assertThat(number("select count(*) from pg_locks where locktype = 'advisory'"
					+ " and database = (select oid from pg_database where datname = current_database())"))
				.isZero();
			assertThat(number("select count(*) from pg_stat_activity where application_name like 'singleton-job%'"
					+ " and datname = current_database()"))
				.isLessThanOrEqualTo(1);
			assertThat(number("select count(*) from singleton_job")).isEqualTo(1);
			assertThat(ownThreads() - threads).isLessThanOrEqualTo(5);
		});
		Awaitility.await()
			.atMost(Duration.ofSeconds(15))
			.untilAsserted(() -> assertThat(number("select count(*) from pg_stat_activity"
					+ " where application_name like 'singleton-job%' and datname = current_database()"))
				.isZero());
		Awaitility.await().atMost(Duration.ofSeconds(15)).untilAsserted(() -> assertThat(ownThreads()).isZero());
	}

	private static long ownThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("singleton-job"))
			.count();
	}

	private static ApplicationContextRunner runner(String url) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
							JdbcClientAutoConfiguration.class, SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=postgres", "singleton-job.namespace=shop",
					"spring.datasource.url=" + url, "spring.datasource.username=" + PostgresServer.USERNAME,
					"spring.datasource.password=any");
	}

	private void role(String name) throws SQLException {
		execute("drop role if exists " + name);
		execute("create role " + name + " login");
		execute("revoke create on schema public from public");
		execute("grant usage on schema public to " + name);
	}

	private void execute(String sql) throws SQLException {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private long number(String sql) throws SQLException {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getLong(1);
		}
	}

	private static FailureAnalysis analyze(Throwable failure) {
		FailureAnalysis analysis = new UnusableDatabaseFailureAnalyzer().analyze(failure);
		if (analysis == null) {
			throw new AssertionError("No analysis", failure);
		}
		return analysis;
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnPool {

		@Bean
		HikariDataSource own(Environment environment) {
			HikariDataSource dataSource = SecondDataSource.dataSource(environment);
			dataSource.addDataSourceProperty("ApplicationName", "own pool");
			return dataSource;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondDataSource {

		@Bean
		HikariDataSource first(Environment environment) {
			return dataSource(environment);
		}

		@Bean
		HikariDataSource second(Environment environment) {
			return dataSource(environment);
		}

		@Bean
		@SingletonJobDataSource
		DataSource store(Environment environment) {
			return dataSource(environment);
		}

		private static HikariDataSource dataSource(Environment environment) {
			HikariDataSource dataSource = new HikariDataSource();
			dataSource.setJdbcUrl(environment.getProperty("spring.datasource.url"));
			dataSource.setUsername(PostgresServer.USERNAME);
			return dataSource;
		}

	}

}
