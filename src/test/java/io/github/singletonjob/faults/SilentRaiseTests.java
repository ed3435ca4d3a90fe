package io.github.singletonjob.faults;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.fencing.FenceSchema;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.postgres.PostgresLeaseStore;
import io.github.singletonjob.postgres.PostgresSchema;
import io.github.singletonjob.postgres.SessionSource;
import io.github.singletonjob.runtime.DaemonThreads;
import io.github.singletonjob.runtime.LeaseKeeper;
import io.github.singletonjob.runtime.LeaseTiming;
import io.github.singletonjob.runtime.RunSettings;
import io.github.singletonjob.runtime.Scheduling;
import io.github.singletonjob.runtime.SingletonJobRunner;
import io.github.singletonjob.runtime.SystemClock;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The guarded database falls silent while a fence is raised, and the store goes on.
 */
@Timeout(120)
class SilentRaiseTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final Duration TTL = Duration.ofSeconds(4);

	private static final RunSettings SETTINGS = new RunSettings(LeaseTiming.of(TTL, null, null), null, OnLost.INTERRUPT,
			false);

	private final String url = PostgresServer.shared().newDatabase();

	private final SessionSource source = () -> PostgresServer.connect(this.url);

	private final PostgresLeaseStore first = new PostgresLeaseStore(this.source, "singleton-job first");

	private final PostgresLeaseStore second = new PostgresLeaseStore(this.source, "singleton-job second");

	private final TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port());

	private final DaemonThreads threads = new DaemonThreads();

	@AfterEach
	void stop() {
		this.proxy.close();
		this.first.close();
		this.second.close();
		this.threads.close();
	}

	@Test
	void theLeaseIsKeptUntilTheRaiseIsGivenUpAndThenTheJobGoesOnElsewhere() {
		new PostgresSchema(this.source).initialize();
		new FenceSchema(dataSource(this.url)).initialize();
		this.first.probe();
		this.second.probe();
		SingletonJobRunner silent = runner(this.first, silentDataSource());
		CompletableFuture<RunResult> raising = CompletableFuture
			.supplyAsync(() -> silent.run(BILLING, SETTINGS, (run) -> {
			}));
		Awaitility.await("kept meanwhile, for longer than its time to live")
			.atMost(Duration.ofSeconds(30))
			.during(TTL.plusSeconds(1))
			.until(this::isHeld);
		// The bound of a raise is twice the time to live
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> raising.get(30, TimeUnit.SECONDS))
			.withCauseInstanceOf(LeaseStoreException.class)
			.withMessageContaining("the fence could not be raised");
		Awaitility.await("given back before it expires").atMost(TTL.dividedBy(2)).until(() -> !isHeld());
		SingletonJobRunner other = runner(this.second, dataSource(this.url));
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.ignoreException(LeaseStoreException.class)
			.until(() -> other.run(BILLING, SETTINGS, (run) -> {
			}).outcome() == RunOutcome.COMPLETED);
	}

	/** By the lock itself, because an attempt could get it. */
	private boolean isHeld() throws SQLException {
		try (Connection connection = PostgresServer.connect(this.url);
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("""
						select count(*) from pg_locks where locktype = 'advisory'
						and database = (select oid from pg_database where datname = current_database())""")) {
			row.next();
			return row.getInt(1) == 1;
		}
	}

	private DataSource silentDataSource() {
		return new DelegatingDataSource(dataSource(this.proxy.through(this.url))) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				SilentRaiseTests.this.proxy.hang();
				return connection;
			}

		};
	}

	private SingletonJobRunner runner(LeaseStore store, DataSource guarded) {
		Scheduling scheduling = new Scheduling(new SystemClock(), this.threads, this.threads, new SplittableRandom());
		LeaseKeeper keeper = new LeaseKeeper(store, scheduling, (run, reason) -> {
		});
		return new SingletonJobRunner(store, new JdbcFence(guarded), keeper, "server");
	}

	private static DataSource dataSource(String url) {
		return new DriverManagerDataSource(url, PostgresServer.USERNAME, "any");
	}

}
