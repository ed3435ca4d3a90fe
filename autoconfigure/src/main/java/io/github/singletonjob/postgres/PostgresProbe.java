package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
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
final class PostgresProbe {

	private static final int OLDEST_VERSION = 14;

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

	private static final String POOLER_ACTION = "Give the store a connection straight to Postgres (a DataSource bean"
			+ " qualified @SingletonJobDataSource), or one through a pooler that keeps one session for each connection"
			+ " (PgBouncer: pool_mode = session). The application itself can go on using the pooler";

	private final SessionSource source;

	private volatile boolean passed;

	PostgresProbe(SessionSource source) {
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
				LeaseConnection.end(second);
			}
			checkTables(first);
		}
		catch (SQLException ex) {
			throw new LeaseStoreException("Postgres could not be probed: " + SqlFailure.explain(ex), ex);
		}
		finally {
			LeaseConnection.end(first);
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
			if (new PoolerDetection(first, second).find()) {
				throw new UnusableStoreException("There is a transaction pooler between the lease store and Postgres: a"
						+ " connection does not keep its session, so a lease would be left behind in another one",
						POOLER_ACTION, null);
			}
			checkAdvisoryLocks(first, second);
		}
		catch (SQLException ex) {
			if (SqlFailure.isOfPooler(ex)) {
				throw new UnusableStoreException("There is a pooler between the lease store and Postgres that does not"
						+ " keep a session for each connection (" + ex.getMessage() + ")", POOLER_ACTION, ex);
			}
			throw ex;
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
		try (PreparedStatement explain = connection.prepareStatement("explain " + LeaseSql.ACQUIRE)) {
			AcquireStatement.bind(explain, request);
			explain.execute();
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
