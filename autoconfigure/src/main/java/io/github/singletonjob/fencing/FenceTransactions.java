package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.github.singletonjob.lease.JobId;

/**
 * The fence's own transactions, at READ COMMITTED on unguarded connections.
 */
final class FenceTransactions {

	/** The shortest wait for a lock, in milliseconds. */
	static final long SHORTEST_WAIT = 50;

	private static final Duration REPLY_MARGIN = Duration.ofSeconds(1);

	private final DataSource dataSource;

	private final FenceTable table;

	FenceTransactions(DataSource dataSource, FenceTable table) {
		this.dataSource = dataSource;
		this.table = table;
	}

	/**
	 * Performs work on a connection whose autocommit is off.
	 * @param timeout how long; a reply that does not come a second later ends the
	 * connection
	 * @param work what to do, which ends its transaction
	 * @return the answer
	 * @throws SQLException if the work failed; it is rolled back
	 */
	<T> T perform(Duration timeout, Work<T> work) throws SQLException {
		try (Connection connection = RawConnections.open(this.dataSource);
				ReplyBound bound = ReplyBound.on(connection, timeout.plus(REPLY_MARGIN));
				TransactionMode mode = TransactionMode.on(connection, this.table.dialect(connection).isPortable())) {
			return rollingBack(connection, work);
		}
	}

	private static <T> T rollingBack(Connection connection, Work<T> work) throws SQLException {
		try {
			return work.perform(connection);
		}
		catch (SQLException | RuntimeException | Error ex) {
			try {
				connection.rollback();
			}
			catch (SQLException failure) {
				ex.addSuppressed(failure);
				// What follows could commit what is left
				connection.abort(Runnable::run);
			}
			throw ex;
		}
	}

	/**
	 * Begins the next transaction: bounds it and, on Postgres, takes the lock of the
	 * job's fence.
	 * @param connection the connection
	 * @param job the job
	 * @param lock exclusive or shared
	 * @param millis how long a lock is waited for
	 * @param idle how long the transaction may be idle, if its process is frozen
	 * @return its statements
	 */
	FenceStatements begin(Connection connection, JobId job, String lock, long millis, Duration idle)
			throws SQLException {
		long bound = Math.max(SHORTEST_WAIT, millis);
		FenceDialect dialect = this.table.dialect(connection);
		if (!dialect.isPortable()) {
			try (var statement = connection.createStatement()) {
				statement.execute(FenceSql.SET_UP.formatted(bound, bound + SHORTEST_WAIT, idle.toMillis(), lock,
						FenceLock.key(job)));
			}
		}
		return new FenceStatements(connection, this.table, dialect.statementSeconds(bound));
	}

	static void rollback(Connection connection, SQLException cause) throws SQLException {
		try {
			connection.rollback();
		}
		catch (SQLException ex) {
			cause.addSuppressed(ex);
			throw cause;
		}
	}

	/**
	 * Something to be done in a transaction, which it ends.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	interface Work<T> {

		T perform(Connection connection) throws SQLException;

	}

}
