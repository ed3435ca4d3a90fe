package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence.Raised;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Six workers commit under the token that they know, which another thread raises
 * meanwhile. What is visible of older tokens when a raise has returned must be all that
 * there ever will be.
 */
final class FenceStress {

	static final String STALE_ROWS = "wrong data: stale rows that became visible";

	static final int WORKERS = 6;

	private static final String COMMIT_SECONDS = "0.001";

	private final GuardedDatabase database;

	private final int raises;

	private final AtomicLong token = new AtomicLong(1);

	private final AtomicLong ids = new AtomicLong();

	private final AtomicLong refusals = new AtomicLong();

	private boolean raiseLocks = true;

	private volatile boolean over;

	FenceStress(GuardedDatabase database, int raises) {
		this.database = database;
		this.raises = raises;
	}

	/** How many writes were refused. */
	long refusals() {
		return this.refusals.get();
	}

	/** A token as a holder knows it, before it may be overtaken. */
	long knownToken() {
		return this.token.get();
	}

	long newId() {
		return this.ids.incrementAndGet();
	}

	void refused() {
		this.refusals.incrementAndGet();
	}

	HikariDataSource pool(String isolation) {
		return this.database.pool((config) -> {
			config.setMaximumPoolSize(WORKERS);
			config.setTransactionIsolation(isolation);
		});
	}

	int violationsByJdbc(String isolation) throws Exception {
		return violationsByJdbc(isolation, UnaryOperator.identity());
	}

	/** Violations with another text of the check. */
	int violationsByJdbc(String isolation, UnaryOperator<String> text) throws Exception {
		try (HikariDataSource pool = pool(isolation)) {
			var guarded = FencedDataSources.guard(pool, FencingSettings.defaults(),
					new FenceCheck(new FenceTable(), text));
			return violations(() -> writeByJdbc(guarded, false));
		}
	}

	/** Raises from now on without the lock that a raise holds beside that of the row. */
	void raiseWithoutItsLock() {
		this.raiseLocks = false;
	}

	int violations(Writer writer) throws Exception {
		this.database.begin("billing", 1);
		ExecutorService executor = Executors.newFixedThreadPool(WORKERS);
		try {
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < WORKERS; i++) {
				workers.add(executor.submit(() -> {
					while (!this.over) {
						writer.write();
					}
					return null;
				}));
			}
			List<Long> visible = raise();
			for (Future<?> worker : workers) {
				worker.get();
			}
			return countViolations(visible);
		}
		finally {
			this.over = true;
			executor.shutdownNow();
		}
	}

	/**
	 * Makes commits take time, as a disk does, in Postgres: what happens in that time,
	 * happens between the check and the end of the commit.
	 */
	void slowDownCommits() {
		this.database.outside().sql("""
				create function slow_down() returns trigger language plpgsql as
				'begin perform pg_sleep(%s); return null; end'
				""".formatted(COMMIT_SECONDS)).update();
		this.database.outside().sql("""
				create constraint trigger slow_down after insert on invoice deferrable initially deferred
				for each row execute function slow_down()
				""").update();
	}

	/**
	 * Makes statements take time, so that the raise falls between snapshot and commit.
	 */
	void slowDownStatements() {
		this.database.outside().sql("""
				create trigger slow_statement after insert on invoice for each row execute function slow_down()
				""").update();
	}

	/** Raises again and again, and looks each time at what is there of older tokens. */
	private List<Long> raise() throws SQLException {
		List<Long> visible = new ArrayList<>();
		try (Connection connection = this.database.plain().getConnection();
				var count = connection.prepareStatement("select count(*) from invoice where token < ?")) {
			JdbcFence fence = new JdbcFence(new SingleConnectionDataSource(connection, true));
			for (long raised = 2; raised < 2 + this.raises; raised++) {
				if (this.raiseLocks) {
					FakeRun run = new FakeRun("billing", raised);
					assertThat(fence.raise(run.grant(), "raiser", GuardedDatabase.TIMEOUT)).isInstanceOf(Raised.class);
				}
				else {
					GuardedDatabase.execute(connection,
							"update singleton_job set token = %1$d, owner = 'owner-%1$d'".formatted(raised));
				}
				count.setLong(1, raised);
				visible.add(count(count));
				this.token.set(raised);
			}
		}
		finally {
			this.over = true;
		}
		return visible;
	}

	private static long count(PreparedStatement statement) throws SQLException {
		try (var result = statement.executeQuery()) {
			result.next();
			return result.getLong(1);
		}
	}

	private int countViolations(List<Long> visible) {
		int violations = 0;
		for (int i = 0; i < visible.size(); i++) {
			long now = this.database.outside()
				.sql("select count(*) from invoice where token < ?")
				.param(i + 2)
				.query(Long.class)
				.single();
			violations += (now != visible.get(i)) ? 1 : 0;
		}
		return violations;
	}

	void writeByJdbc(DataSource dataSource, boolean autoCommit) throws SQLException {
		long known = this.token.get();
		try (var scope = CurrentJobRun.open(new FakeRun("billing", known));
				Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(autoCommit);
			try (var statement = connection.prepareStatement("insert into invoice values (?, ?)")) {
				statement.setLong(1, this.ids.incrementAndGet());
				statement.setLong(2, known);
				statement.executeUpdate();
			}
			if (!autoCommit) {
				connection.commit();
			}
		}
		catch (StaleTokenException ex) {
			this.refusals.incrementAndGet();
		}
		catch (SQLException ex) {
			// Between the transactions of one run, as it can be at SERIALIZABLE
			if (!"40001".equals(ex.getSQLState())) {
				throw ex;
			}
		}
	}

	@FunctionalInterface
	interface Writer {

		void write() throws SQLException;

	}

}
