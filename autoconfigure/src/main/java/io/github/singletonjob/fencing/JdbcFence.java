package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The fence as a row of the guarded database.
 * <p>
 * A raise is one upsert, in a transaction of its own on an unguarded connection. It takes
 * the row's lock exclusively, and every fenced transaction holds that lock in share mode
 * from its check until it has committed. So the raise waits for those that have been
 * checked already, and those that are checked later see the new token and are aborted.
 * The row keeps the owner too: repeating a raise succeeds, while an equal token of
 * another owner is refused.
 * <p>
 * A raise for a fire time decides about it in the same transaction, under the same lock,
 * by what the table {@code singleton_job_fire_time} knows: a fire time that was completed
 * is not repeated and one that is open is finished first, also when the store has
 * forgotten them.
 * <p>
 * A raise that has to wait too long is repeated until its time-out; then the message
 * names the sessions that have the table's locks.
 */
public final class JdbcFence implements Fence {

	// Lock time-out, serialization failure, deadlock, statement time-out or cancellation
	private static final Set<String> WORTH_ANOTHER_TRY = Set.of("55P03", "40001", "40P01", "57014");

	private static final int TRIES = 3;

	private static final long SHORTEST_TRY = 50;

	private static final Duration REPLY_MARGIN = Duration.ofSeconds(1);

	private final DataSource dataSource;

	private final FenceTable table;

	/**
	 * Creates the fence. Nothing is asked yet.
	 * @param dataSource the guarded data source, or the one that it guards
	 */
	public JdbcFence(DataSource dataSource) {
		this.dataSource = FencedDataSources.unguarded(dataSource);
		this.table = FencedDataSources.table(dataSource);
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The time-out bounds the waiting inside the database; a reply that does not come a
	 * second later ends the connection. The waiting for a connection before is bounded by
	 * the pool.
	 */
	@Override
	public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
		Attempt attempt = new Attempt(grant, holder, System.nanoTime(), timeout);
		try {
			return inTransaction(timeout, (connection) -> raise(connection, attempt));
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(
					grant.job().name() + ": the fence could not be raised to token " + grant.token() + " ("
							+ ex.getMessage() + "); the run is not started. Look at the guarded database",
					ex);
		}
	}

	@Override
	public boolean complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
		try {
			return inTransaction(timeout, (connection) -> {
				setUp(connection, timeout.toMillis(), timeout);
				boolean ours = new FenceFireTimes(connection, this.table).complete(grant, fireTime);
				connection.commit();
				return ours;
			});
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(grant.job().name() + ": that " + fireTime.instant()
					+ " has run could not be recorded in the guarded database (" + ex.getMessage() + ")", ex);
		}
	}

	@Override
	public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
		try {
			return inTransaction(timeout, (connection) -> {
				Map<String, FireTimes> known = new FenceFireTimes(connection, this.table).all(job);
				connection.commit();
				return known;
			});
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(
					job.name() + ": the guarded database did not tell its fire times (" + ex.getMessage() + ")", ex);
		}
	}

	private <T> T inTransaction(Duration timeout, Work<T> work) throws SQLException {
		try (Connection connection = RawConnections.open(this.dataSource);
				ReplyBound bound = ReplyBound.on(connection, timeout.plus(REPLY_MARGIN))) {
			boolean autoCommit = connection.getAutoCommit();
			connection.setAutoCommit(false);
			T answer = perform(connection, work);
			connection.setAutoCommit(autoCommit);
			return answer;
		}
	}

	private static <T> T perform(Connection connection, Work<T> work) throws SQLException {
		try {
			return work.perform(connection);
		}
		catch (SQLException ex) {
			rollback(connection, ex);
			throw ex;
		}
	}

	private FenceAnswer raise(Connection connection, Attempt attempt) throws SQLException {
		while (true) {
			try {
				return tryRaise(connection, attempt);
			}
			catch (SQLException ex) {
				rollback(connection, ex);
				if (!WORTH_ANOTHER_TRY.contains(String.valueOf(ex.getSQLState()))) {
					throw ex;
				}
				if (attempt.millisLeft() < SHORTEST_TRY) {
					throw new FenceBlockers(this.table).report(connection, attempt.grant(), ex);
				}
			}
		}
	}

	private FenceAnswer tryRaise(Connection connection, Attempt attempt) throws SQLException {
		setUp(connection, Math.min(attempt.millisLeft(), attempt.timeout().toMillis() / TRIES), attempt.timeout());
		GrantedFireTime fireTime = attempt.grant().fireTime();
		FenceAnswer answer = (fireTime != null) ? raise(connection, attempt, fireTime)
				: (upsert(connection, attempt) ? new Raised(null) : seen(connection, attempt.grant().job()));
		connection.commit();
		return answer;
	}

	private FenceAnswer raise(Connection connection, Attempt attempt, GrantedFireTime fireTime) throws SQLException {
		FenceFireTimes fireTimes = new FenceFireTimes(connection, this.table);
		Early early = fireTimes.early(fireTime);
		if (early != null) {
			return early;
		}
		if (!upsert(connection, attempt)) {
			return seen(connection, attempt.grant().job());
		}
		return fireTimes.begin(attempt.grant(), fireTime);
	}

	private static void setUp(Connection connection, long millis, Duration idle) throws SQLException {
		long bound = Math.max(SHORTEST_TRY, millis);
		try (var statement = connection.createStatement()) {
			statement.execute(FenceSql.SET_UP.formatted(bound, bound + SHORTEST_TRY, idle.toMillis()));
		}
	}

	private boolean upsert(Connection connection, Attempt attempt) throws SQLException {
		LeaseGrant grant = attempt.grant();
		String sql = FenceSql.RAISE.formatted(this.table.qualifiedName(connection));
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setLong(3, grant.token());
			statement.setString(4, grant.owner());
			statement.setString(5, attempt.holder());
			try (ResultSet result = statement.executeQuery()) {
				return result.next();
			}
		}
	}

	private Refused seen(Connection connection, JobId job) throws SQLException {
		String sql = FenceSql.SEEN.formatted(this.table.qualifiedName(connection));
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			try (ResultSet result = statement.executeQuery()) {
				if (result.next()) {
					return new Refused(result.getLong(1));
				}
			}
		}
		// Deleted between the two statements: as good as a serialization failure
		throw new SQLException("The fence row of " + job + " disappeared", "40001");
	}

	private static void rollback(Connection connection, SQLException cause) throws SQLException {
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
	private interface Work<T> {

		T perform(Connection connection) throws SQLException;

	}

	/**
	 * One call of {@link #raise(LeaseGrant, String, Duration)}.
	 */
	private record Attempt(LeaseGrant grant, String holder, long start, Duration timeout) {

		long millisLeft() {
			return this.timeout.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - this.start);
		}

	}

}
