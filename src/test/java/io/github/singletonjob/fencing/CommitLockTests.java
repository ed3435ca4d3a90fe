package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lock of a commit under load: it writes nothing, and lets a raise through.
 */
@Timeout(300)
class CommitLockTests {

	private static final int THREADS = 8;

	private static final int COMMITS = Integer.getInteger("tests.commits", 4_000);

	private final PostgresServer server = PostgresServer.create().with("autovacuum", "off").start();

	private final GuardedDatabase database = new GuardedDatabase(this.server.newDatabase(),
			(config) -> config.setMaximumPoolSize(1), FencingSettings.defaults());

	private final AtomicLong ids = new AtomicLong();

	@AfterEach
	void stop() {
		this.database.close();
		this.server.close();
	}

	@Test
	void commitsOfManyThreadsMakeNoMultixacts() throws Exception {
		long made = multixactsOf(COMMITS, new FenceCheck(new FenceTable()));
		System.out.println("Multixacts of " + COMMITS + " fenced commits of " + THREADS + " threads: " + made);
		assertThat(made).isZero();
	}

	/** Without this one the test above would prove nothing. */
	@Test
	void aLockOnTheRowMakesMultixacts() throws Exception {
		assertThat(multixactsOf(1000, new FenceCheck(new FenceTable(), CommitLockTests::lockingTheRow))).isPositive();
	}

	private static String lockingTheRow(String sql) {
		return sql.replaceFirst(" and \\(pg_catalog.current_setting.*_stands_at\\([^)]*\\)\\)", " for share");
	}

	private long multixactsOf(long commits, FenceCheck check) throws Exception {
		FakeRun run = this.database.begin("billing", 33);
		long before = multixacts();
		AtomicLong left = new AtomicLong(commits);
		inThreads(check, (dataSource) -> {
			while (left.getAndDecrement() > 0) {
				write(dataSource, run);
			}
		});
		assertThat(this.database.invoices()).isEqualTo(commits);
		return multixacts() - before;
	}

	private long multixacts() {
		this.database.outside().sql("checkpoint").update();
		return this.database.outside()
			.sql("select next_multixact_id::text::bigint from pg_control_checkpoint()")
			.query(Long.class)
			.single();
	}

	@Test
	void theCheckWritesNothing() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		try (Connection connection = this.database.plain().getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, 1);
			String before = written(connection);
			GuardedDatabase.check(connection, run.grant());
			assertThat(written(connection)).isEqualTo(before);
		}
	}

	// Where the log ends, and who has locked the row last
	private static String written(Connection connection) throws SQLException {
		try (var statement = connection.createStatement();
				var row = statement
					.executeQuery("select pg_current_wal_insert_lsn() || ' ' || xmax from singleton_job")) {
			row.next();
			return row.getString(1);
		}
	}

	@Test
	void aRaiseGetsThroughWhileManyThreadsCommit() throws Exception {
		new FenceStress(this.database, 0).slowDownCommits();
		this.database.begin("billing", 1);
		AtomicLong token = new AtomicLong(1);
		AtomicBoolean over = new AtomicBoolean();
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			Future<?> committing = executor.submit(() -> {
				inThreads(new FenceCheck(new FenceTable()), (dataSource) -> {
					while (!over.get()) {
						writeOrBeRefused(dataSource, new FakeRun("billing", token.get()));
					}
				});
				return null;
			});
			JdbcFence fence = new JdbcFence(this.database.plain());
			for (long raised = 2; raised < 30; raised++) {
				FakeRun run = new FakeRun("billing", raised);
				assertThat(fence.raise(run.grant(), "raiser", Duration.ofSeconds(1))).isInstanceOf(Raised.class);
				token.set(raised);
			}
			over.set(true);
			committing.get();
		}
		finally {
			over.set(true);
			executor.shutdownNow();
		}
		assertThat(this.database.invoices()).isPositive();
	}

	private void writeOrBeRefused(DataSource dataSource, FakeRun run) throws SQLException {
		try {
			write(dataSource, run);
		}
		catch (StaleTokenException ex) {
			assertThat(run.refusal()).isNotNull();
		}
	}

	private void write(DataSource dataSource, FakeRun run) throws SQLException {
		try (var scope = CurrentJobRun.open(run); Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, this.ids.incrementAndGet());
			connection.commit();
			connection.setAutoCommit(true);
		}
	}

	private void inThreads(FenceCheck check, Work work) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try (HikariDataSource pool = this.database.pool((config) -> config.setMaximumPoolSize(THREADS))) {
			DataSource guarded = FencedDataSources.guard(pool, FencingSettings.defaults(), check);
			List<Future<?>> threads = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				threads.add(executor.submit(() -> {
					work.accept(guarded);
					return null;
				}));
			}
			for (Future<?> thread : threads) {
				thread.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@FunctionalInterface
	private interface Work {

		void accept(DataSource dataSource) throws Exception;

	}

}
