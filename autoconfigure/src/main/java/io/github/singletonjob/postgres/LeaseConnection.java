package io.github.singletonjob.postgres;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The JDBC side of a lease session. Used by the thread of the session alone, except for
 * {@link #end()}.
 */
final class LeaseConnection {

	private static final Log logger = LogFactory.getLog(LeaseConnection.class);

	private final Connection connection;

	private final int backend;

	private LeaseConnection(Connection connection, int backend) {
		this.connection = connection;
		this.backend = backend;
	}

	/**
	 * Makes a connection a lease session. If that fails, the connection is ended.
	 * @param connection a connection that nobody else uses
	 * @param settings the settings of the session
	 * @return the lease session
	 * @throws SQLException if the server refuses or does not answer
	 */
	static LeaseConnection open(Connection connection, SessionSettings settings) throws SQLException {
		try {
			return new LeaseConnection(connection, settings.apply(connection));
		}
		catch (SQLException | RuntimeException ex) {
			end(connection);
			throw ex;
		}
	}

	/**
	 * Bounds the wait for a reply. A reply that did not come in time leaves the protocol
	 * in an unknown state and ends the connection, so while there are leases this must
	 * not be shorter than their time to live.
	 */
	void limitWait(Duration time) throws SQLException {
		limitWait(this.connection, time);
	}

	static void limitWait(Connection connection, Duration time) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, (int) Math.min(Integer.MAX_VALUE, Math.max(1, time.toMillis())));
	}

	AcquireAnswer acquire(Claim claim) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.ACQUIRE)) {
			AcquireStatement.bind(statement, claim.request());
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				return AcquireStatement.read(row, claim.request().firing());
			}
		}
	}

	/**
	 * The grants that the rows of these claims stand for, by lock key.
	 */
	Map<Long, RowGrant> rows(Collection<Claim> claims) throws SQLException {
		Array keys = this.connection.createArrayOf("bigint", claims.stream().map(Claim::lockKey).toArray());
		Map<Long, RowGrant> found = new HashMap<>();
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.ROWS)) {
			statement.setArray(1, keys);
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				do {
					found.put(row.getLong("lock_key"), new RowGrant(row.getString("owner"), row.getLong("token")));
				}
				while (row.next());
			}
		}
		return found;
	}

	ReleaseAnswer release(Claim claim, LeaseGrant grant, @Nullable Instant completed) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.RELEASE)) {
			bind(statement, grant);
			statement.setLong(5, claim.lockKey());
			bind(statement, 6, grant, completed);
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				return new ReleaseAnswer(row.getBoolean("cleared"), row.getBoolean("unlocked"));
			}
		}
	}

	/**
	 * Records what was completed.
	 * @return false if the row has not our owner and token any more
	 */
	boolean complete(LeaseGrant grant, Instant completed) throws SQLException {
		if (grant.fireTime() == null) {
			return true;
		}
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.COMPLETE)) {
			bind(statement, grant);
			bind(statement, 5, grant, completed);
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				return row.getBoolean("recorded");
			}
		}
	}

	private static void bind(PreparedStatement statement, LeaseGrant grant) throws SQLException {
		statement.setString(1, grant.job().namespace());
		statement.setString(2, grant.job().name());
		statement.setString(3, grant.owner());
		statement.setLong(4, grant.token());
	}

	private static void bind(PreparedStatement statement, int index, LeaseGrant grant, @Nullable Instant completed)
			throws SQLException {
		GrantedFireTime fireTime = grant.fireTime();
		statement.setString(index, (fireTime != null) ? fireTime.schedule() : null);
		Instants.set(statement, index + 1, (fireTime != null) ? completed : null);
	}

	LeaseRecord inspect(JobId job) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.INSPECT)) {
			statement.setLong(1, LockKey.of(job));
			statement.setString(2, job.namespace());
			statement.setString(3, job.name());
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				return LeaseRecords.read(row);
			}
		}
	}

	/** Takes a lease away from whichever session holds it. */
	boolean revoke(JobId job, long token) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.REVOKE)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			statement.setLong(3, token);
			try (ResultSet row = onlyRow(statement)) {
				checkBackend(row);
				return row.getBoolean("revoked");
			}
		}
	}

	/** Frees one key by a {@link KeyUnlock}; answers whether the session had it. */
	boolean free(long lockKey) throws SQLException {
		return new KeyUnlock(this.connection, lockKey).perform();
	}

	private static ResultSet onlyRow(PreparedStatement statement) throws SQLException {
		ResultSet rows = statement.executeQuery();
		rows.next();
		return rows;
	}

	private void checkBackend(ResultSet row) throws SQLException {
		int answering = row.getInt("backend");
		if (answering != this.backend) {
			throw SqlFailure.otherBackend(this.backend, answering);
		}
	}

	/**
	 * Whether the session is over after this failure, rather than only a statement.
	 */
	boolean isBroken(SQLException failure) throws SQLException {
		return isBroken(this.connection, failure);
	}

	static boolean isBroken(Connection connection, SQLException failure) throws SQLException {
		return SqlFailure.endsSession(failure) || connection.isClosed();
	}

	/**
	 * Ends the session on the server. Aborted and then closed, so that a pool does not
	 * keep a connection with our settings and locks. May be called from any thread.
	 */
	void end() {
		end(this.connection);
	}

	static void end(Connection connection) {
		try {
			connection.abort(Runnable::run);
			connection.close();
		}
		catch (SQLException ex) {
			// Nothing is left to be done with it: an aborted connection may complain
			logger.debug("Closing a lease session was answered with an error", ex);
		}
	}

	/**
	 * The grant that a row stands for.
	 *
	 * @param owner the owner, or null if released
	 * @param token the token
	 */
	record RowGrant(@Nullable String owner, long token) {
	}

	/**
	 * An answer to {@link #release}.
	 *
	 * @param cleared whether the row still had our owner and token
	 * @param unlocked whether the session still had the advisory lock
	 */
	record ReleaseAnswer(boolean cleared, boolean unlocked) {
	}

}
