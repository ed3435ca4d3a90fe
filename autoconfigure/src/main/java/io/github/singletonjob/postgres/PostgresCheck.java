package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;

/**
 * Finds out, once, whether leases can be kept in a database: it is Postgres 14 or newer
 * and the primary, no transaction pooler is in between, advisory locks exclude, and the
 * tables and the rights are there. Changes nothing.
 */
final class PostgresCheck {

	private static final int OLDEST_VERSION = 14;

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

	private static final int ROUNDS = 6;

	private static final String BACKEND = "select pg_backend_pid()";

	private static final String LEAVE_SETTING = "select set_config('singleton_job.probe', '%s', false)";

	private static final String READ_SETTING = "select coalesce(current_setting('singleton_job.probe', true), '')";

	private final SessionSource source;

	private volatile boolean passed;

	PostgresCheck(SessionSource source) {
		this.source = source;
	}

	/**
	 * Probes, unless that was passed before. A failure is not remembered.
	 * @throws UnusableStoreException if the database cannot keep leases
	 * @throws LeaseStoreException if it does not answer
	 */
	void ensurePassed() {
		if (!this.passed) {
			probe();
			this.passed = true;
		}
	}

	private void probe() {
		Connection first = open();
		try {
			checkServer(first);
			Connection second = open();
			try {
				checkSessions(first, second);
			}
			finally {
				LeaseStatements.end(second);
			}
			checkTables(first);
		}
		catch (SQLException ex) {
			throw new LeaseStoreException("Postgres could not be probed: " + SqlFailure.explain(ex), ex);
		}
		finally {
			LeaseStatements.end(first);
		}
	}

	private Connection open() {
		try {
			Connection connection = this.source.open();
			connection.setNetworkTimeout(Runnable::run, (int) REPLY_TIMEOUT.toMillis());
			connection.setAutoCommit(true);
			return connection;
		}
		catch (SQLException ex) {
			throw SqlFailure.opening(ex);
		}
	}

	/**
	 * Refuses what is no Postgres, or an older one.
	 * @throws UnusableStoreException if it is
	 */
	static void requirePostgres(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		int version = connection.getMetaData().getDatabaseMajorVersion();
		if (!"PostgreSQL".equals(product) || version < OLDEST_VERSION) {
			throw new UnusableStoreException(
					"The lease store needs Postgres " + OLDEST_VERSION + " or newer, which ends the session of a silent"
							+ " holder by itself; this is " + product + " " + version,
					"Upgrade the server, connect to one that is Postgres, or choose another singleton-job.store (in-memory"
							+ " for tests)",
					null);
		}
	}

	private static void checkServer(Connection connection) throws SQLException {
		requirePostgres(connection);
		if (ask(connection, "select pg_is_in_recovery()")) {
			throw new UnusableStoreException("The server of the lease store is a stand-by, which cannot be written to",
					"Connect to the primary (targetServerType=primary in the JDBC URL)", null);
		}
	}

	private static void checkSessions(Connection first, Connection second) throws SQLException {
		try {
			if (isPooled(first, second)) {
				throw new UnusableStoreException("There is a transaction pooler between the lease store and Postgres: a"
						+ " connection does not keep its session, so a lease would be left behind in another one",
						SqlFailure.POOLER_ACTION, null);
			}
			checkAdvisoryLocks(first, second);
		}
		catch (SQLException ex) {
			if (SqlFailure.isOfPooler(ex)) {
				throw SqlFailure.pooler(ex);
			}
			throw ex;
		}
	}

	/**
	 * Finds a pooler that gives a connection another session for each transaction. Three
	 * signs, none of which a connection with a session of its own can show:
	 * <ol>
	 * <li>Two connections that are open at once have the same backend: a pooler that is
	 * idle gives its one warm session to each.</li>
	 * <li>A session setting of the one connection is seen by the other, or is gone.</li>
	 * <li>The backend of a connection changes. To provoke that, two transactions are open
	 * at once, so that there are two sessions, and end in both orders: a pooler that
	 * hands out the session which was given back last swaps them in the one order, a
	 * pooler that hands out the one which waits longest in the other.</li>
	 * </ol>
	 */
	private static boolean isPooled(Connection first, Connection second) throws SQLException {
		String firstBackend = text(first, BACKEND);
		String secondBackend = text(second, BACKEND);
		if (firstBackend.equals(secondBackend) || isSettingShared(first, second)) {
			return true;
		}
		for (int round = 0; round < ROUNDS; round++) {
			execute(first, "begin");
			execute(second, "begin");
			boolean changed = isChanged(first, firstBackend) || isChanged(second, secondBackend);
			boolean firstEndsFirst = round % 2 == 0;
			execute(firstEndsFirst ? first : second, "commit");
			execute(firstEndsFirst ? second : first, "commit");
			if (changed || isChanged(first, firstBackend) || isChanged(second, secondBackend)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isSettingShared(Connection first, Connection second) throws SQLException {
		String nonce = UUID.randomUUID().toString();
		text(first, LEAVE_SETTING.formatted(nonce));
		boolean shared = text(second, READ_SETTING).equals(nonce) || !text(first, READ_SETTING).equals(nonce);
		text(first, LEAVE_SETTING.formatted(""));
		return shared;
	}

	private static boolean isChanged(Connection connection, String backend) throws SQLException {
		return !text(connection, BACKEND).equals(backend);
	}

	/** The driver's own transactions are prepared statements. */
	private static void execute(Connection connection, String command) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(command);
		}
	}

	/** Never a prepared statement, which a pooler can lose between two executions. */
	private static String text(Connection connection, String question) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(question)) {
			row.next();
			return row.getString(1);
		}
	}

	private static void checkAdvisoryLocks(Connection first, Connection second) throws SQLException {
		long key = ThreadLocalRandom.current().nextLong();
		boolean exclusive = ask(first, "select pg_try_advisory_lock(" + key + ")")
				&& !ask(second, "select pg_try_advisory_lock(" + key + ")")
				&& ask(first, "select pg_advisory_unlock(" + key + ")");
		if (!exclusive) {
			throw new UnusableStoreException(
					"Advisory locks of this server do not exclude each other, although it" + " answers as Postgres",
					"Use a genuine Postgres, without a pooler or a proxy that shares sessions", null);
		}
	}

	/**
	 * Plans the statement that acquires, without executing it: this tests the tables,
	 * their columns, primary keys and the rights.
	 */
	private static void checkTables(Connection connection) throws SQLException {
		LeaseRequest request = new LeaseRequest(new JobId("probe", "probe"), "", "", Duration.ZERO, Duration.ZERO, 0);
		try {
			LeaseStatements.explainTake(connection, new Claim(request));
		}
		catch (SQLException ex) {
			throw table(ex);
		}
	}

	private static UnusableStoreException table(SQLException failure) throws SQLException {
		String table = SqlFailure.tableOf(failure);
		return switch (SqlFailure.state(failure)) {
			case SqlFailure.UNDEFINED_TABLE -> new UnusableStoreException(
					"The table " + table + " of the lease store does not exist", SqlFailure.CREATE_TABLE_HINT, failure);
			case SqlFailure.NOT_PERMITTED -> new UnusableStoreException(
					"The user of the lease store may not use its table (" + failure.getMessage() + ")",
					SqlFailure.GRANT_HINT, failure);
			case "42703", "42P10", "42804" -> new UnusableStoreException(
					"The table " + table + " is not the one that the lease store needs (" + failure.getMessage() + ")",
					"Rename or drop it, and create it anew by io/github/singletonjob/postgres/schema.sql (in the jar)",
					failure);
			default -> throw failure;
		};
	}

	private static boolean ask(Connection connection, String question) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(question)) {
			return row.next() && row.getBoolean(1);
		}
	}

}
