package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What is said to the server on one session, and what its answers mean. Each answer comes
 * with the number of the backend that gives it, which must be that of the session. Used
 * by one thread at a time, except for {@link #end()}.
 */
final class LeaseStatements {

	private static final Log logger = LogFactory.getLog(LeaseStatements.class);

	private static final String RELEASE = LeaseSql.release(true, false);

	private static final String RELEASE_ONE = LeaseSql.release(true, true);

	private static final String RECORD = LeaseSql.release(false, false);

	private static final String RECORD_ONE = LeaseSql.release(false, true);

	private final Map<String, PreparedStatement> prepared = new HashMap<>();

	private final Connection connection;

	private final int backend;

	private int replyLimit;

	private LeaseStatements(Connection connection, int backend) {
		this.connection = connection;
		this.backend = backend;
	}

	/**
	 * Makes a connection a session of the store. If that fails, the connection is ended.
	 * @param connection a connection that nobody else uses
	 * @param applicationName how the session is called in {@code pg_stat_activity}
	 * @param times the time-outs
	 * @return the session's statements
	 * @throws SQLException if the server refuses or does not answer
	 */
	static LeaseStatements open(Connection connection, String applicationName, LeaseSession.Times times)
			throws SQLException {
		try {
			limitReply(connection, times.openingTimeout());
			connection.setAutoCommit(true);
			int backend = configure(connection, applicationName, times);
			checkForClient(connection, times);
			return new LeaseStatements(connection, backend);
		}
		catch (Throwable ex) {
			end(connection);
			throw ex;
		}
	}

	private static int configure(Connection connection, String applicationName, LeaseSession.Times times)
			throws SQLException {
		String ttl = Long.toString(times.ttlMillis());
		try (PreparedStatement statement = connection.prepareStatement(LeaseSql.SETTINGS)) {
			statement.setString(1, applicationName);
			statement.setString(2, ttl);
			statement.setString(3, ttl);
			statement.setString(4, Long.toString(times.statementTimeoutMillis()));
			statement.setString(5, Long.toString(times.lockTimeoutMillis()));
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return row.getInt("backend");
			}
		}
	}

	private static void checkForClient(Connection connection, LeaseSession.Times times) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(LeaseSql.CHECK_FOR_CLIENT)) {
			statement.setString(1, Long.toString(times.callTimeout().toMillis()));
			statement.execute();
		}
		catch (SQLException ex) {
			if (isBroken(connection, ex)) {
				throw ex;
			}
			logger.debug("client_connection_check_interval is not supported by this server", ex);
		}
	}

	int backend() {
		return this.backend;
	}

	/**
	 * Bounds the wait for a reply. A reply that did not come in time leaves the protocol
	 * in an unknown state and ends the connection, so while there are leases this must
	 * not be shorter than their time to live.
	 */
	void limitReply(Duration time) throws SQLException {
		int millis = millis(time);
		if (millis != this.replyLimit) {
			limitReply(this.connection, time);
			this.replyLimit = millis;
		}
	}

	static void limitReply(Connection connection, Duration time) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, millis(time));
	}

	private static int millis(Duration time) {
		return (int) Math.min(Integer.MAX_VALUE, Math.max(1, time.toMillis()));
	}

	/**
	 * Asks for leases.
	 * @param asked the claims, each with the token that was seen when its lock was taken
	 * @param step which part of it this session has to do
	 * @return an answer for each, in the same order
	 */
	List<Taking> take(List<Taking.Asked> asked, Taking.Step step) throws SQLException {
		return execute(step.sql(asked.size() == 1), (statement) -> {
			bindRequests(statement, asked);
		}, (rows) -> {
			List<Taking> answers = new ArrayList<>(Collections.nCopies(asked.size(), Taking.NOTHING));
			do {
				int index = rows.getInt("position") - 1;
				answers.set(index, taking(rows, asked.get(index).claim().request().firing(), step));
			}
			while (rows.next());
			return answers;
		});
	}

	/** Plans the statement that takes leases, without executing it. */
	static void explainTake(Connection connection, Claim claim) throws SQLException {
		try (PreparedStatement explain = connection
			.prepareStatement("explain " + Taking.Step.LOCK_AND_MINT.sql(true))) {
			bindRequests(explain, List.of(new Taking.Asked(claim, null)));
			explain.execute();
		}
	}

	private static void bindRequests(PreparedStatement statement, List<Taking.Asked> asked) throws SQLException {
		int index = 1;
		set(statement, index++, "bigint", asked, (one) -> one.claim().lockKey());
		set(statement, index++, "text", asked, (one) -> one.claim().job().namespace());
		set(statement, index++, "text", asked, (one) -> one.claim().job().name());
		set(statement, index++, "text", asked, (one) -> one.claim().request().owner());
		set(statement, index++, "text", asked, (one) -> one.claim().request().holder());
		set(statement, index++, "bigint", asked, (one) -> one.claim().request().floor());
		set(statement, index++, "text", asked, (one) -> {
			Firing firing = one.claim().request().firing();
			return (firing != null) ? firing.schedule() : null;
		});
		set(statement, index++, "timestamptz", asked, (one) -> {
			Firing firing = one.claim().request().firing();
			return (firing != null) ? text(firing.fireTime()) : null;
		});
		set(statement, index++, "boolean", asked, (one) -> {
			Firing firing = one.claim().request().firing();
			return firing != null && firing.finishesOpen();
		});
		set(statement, index, "bigint", asked, Taking.Asked::seen);
	}

	private static Taking taking(ResultSet row, @Nullable Firing firing, Taking.Step step) throws SQLException {
		if (row.getBoolean("early")) {
			return new Taking.Refused(new Acquisition.Early(requireInstant(row, "server_time")));
		}
		if (!row.getBoolean("needed")) {
			return new Taking.Refused(new Acquisition.AlreadyRan(instant(row, "known_completed")));
		}
		if (!row.getBoolean("ok")) {
			return new Taking.Refused(new Acquisition.Held(row.getString("last_holder")));
		}
		if (!step.mints()) {
			return new Taking.Locked(row.getObject("last_token", Long.class));
		}
		Long token = row.getObject("token", Long.class);
		return (token != null) ? new Taking.Minted(token, fireTime(row, firing), row.getBoolean("follows_unreleased"))
				: Taking.NOTHING;
	}

	private static @Nullable GrantedFireTime fireTime(ResultSet row, @Nullable Firing firing) throws SQLException {
		if (firing == null) {
			return null;
		}
		boolean takeover = row.getInt("runs") > 1;
		// The database keeps microseconds
		Instant own = takeover ? null : firing.fireTime();
		return new GrantedFireTime(firing, (own != null) ? own : requireInstant(row, "started"), takeover,
				instant(row, "completed"));
	}

	/**
	 * The owner and the token of each row of these claims, by lock key.
	 */
	Map<Long, Row> rows(List<Claim> claims) throws SQLException {
		return execute(LeaseSql.ROWS, (statement) -> setArray(statement, 1, "bigint", claims, Claim::lockKey),
				(rows) -> {
					Map<Long, Row> found = new HashMap<>();
					do {
						found.put(rows.getLong("lock_key"), new Row(rows.getString("owner"), rows.getLong("token")));
					}
					while (rows.next());
					return found;
				});
	}

	/**
	 * Gives leases back.
	 * @param unlocks whether this session has their advisory locks
	 * @return an answer for each, in the same order
	 */
	List<Released> release(List<Ended> ended, boolean unlocks) throws SQLException {
		String sql = (ended.size() == 1) ? (unlocks ? RELEASE_ONE : RECORD_ONE) : (unlocks ? RELEASE : RECORD);
		return execute(sql, (statement) -> {
			set(statement, 1, "text", ended, (one) -> one.claim().job().namespace());
			set(statement, 2, "text", ended, (one) -> one.claim().job().name());
			set(statement, 3, "text", ended, (one) -> one.claim().request().owner());
			set(statement, 4, "bigint", ended, Ended::token);
			set(statement, 5, "bigint", ended, (one) -> one.claim().lockKey());
			set(statement, 6, "text", ended, Ended::schedule);
			set(statement, 7, "timestamptz", ended, (one) -> text(one.completed()));
			set(statement, 8, "boolean", ended, Ended::marked);
		}, (rows) -> {
			List<Released> answers = new ArrayList<>(Collections.nCopies(ended.size(), new Released(false, false)));
			do {
				answers.set(rows.getInt("position") - 1,
						new Released(rows.getBoolean("cleared"), rows.getBoolean("unlocked")));
			}
			while (rows.next());
			return answers;
		});
	}

	/**
	 * Records what was completed and keeps the lease.
	 * @return false if the row has not our owner and token any more
	 */
	boolean complete(LeaseGrant grant, Instant completed) throws SQLException {
		GrantedFireTime fireTime = grant.fireTime();
		if (fireTime == null) {
			return true;
		}
		return execute(LeaseSql.COMPLETE, (statement) -> {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setString(3, grant.owner());
			statement.setLong(4, grant.token());
			statement.setString(5, fireTime.schedule());
			statement.setObject(6, completed.truncatedTo(ChronoUnit.MICROS).atOffset(ZoneOffset.UTC),
					Types.TIMESTAMP_WITH_TIMEZONE);
		}, (row) -> row.getBoolean("recorded"));
	}

	/** What is known of jobs, in their order. */
	List<LeaseRecord> inspect(List<JobId> jobs) throws SQLException {
		return execute(LeaseSql.INSPECT, (statement) -> {
			setArray(statement, 1, "bigint", jobs, LockKey::of);
			setArray(statement, 2, "text", jobs, JobId::namespace);
			setArray(statement, 3, "text", jobs, JobId::name);
		}, (rows) -> {
			LeaseRecord unknown = new LeaseRecord(false, null, 0, null, Map.of());
			List<LeaseRecord> records = new ArrayList<>(Collections.nCopies(jobs.size(), unknown));
			do {
				int index = rows.getInt("position") - 1;
				Map<String, FireTimes> fireTimes = new HashMap<>(records.get(index).fireTimes());
				String schedule = rows.getString("schedule");
				if (schedule != null) {
					fireTimes.put(schedule, new FireTimes(instant(rows, "started"), instant(rows, "completed")));
				}
				boolean held = rows.getBoolean("held");
				records.set(index, new LeaseRecord(held, held ? rows.getString("holder") : null, rows.getLong("token"),
						null, fireTimes));
			}
			while (rows.next());
			return records;
		});
	}

	/** Takes a lease away from whichever session holds it. */
	boolean revoke(JobId job, long token) throws SQLException {
		return execute(LeaseSql.REVOKE, (statement) -> {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			statement.setLong(3, token);
		}, (row) -> row.getBoolean("revoked"));
	}

	/**
	 * Frees one key, if this session has it. A second failure ends the session, because
	 * nobody else could get the job while it lives.
	 * @return whether the session had it
	 */
	boolean free(long lockKey) throws SQLException {
		try {
			return freeOnce(lockKey);
		}
		catch (SQLException ex) {
			if (isBroken(ex)) {
				throw ex;
			}
		}
		try {
			return freeOnce(lockKey);
		}
		catch (SQLException ex) {
			throw SqlFailure.notFreed(lockKey, ex);
		}
	}

	private boolean freeOnce(long lockKey) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.UNLOCK_IF_HELD)) {
			statement.setLong(1, lockKey);
			statement.setLong(2, lockKey);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() && row.getBoolean(1);
			}
		}
	}

	/** Prepared once for as long as all goes well. */
	private <T> T execute(String sql, Binding parameters, Reading<T> answer) throws SQLException {
		PreparedStatement statement = this.prepared.get(sql);
		if (statement == null) {
			statement = this.connection.prepareStatement(sql);
			this.prepared.put(sql, statement);
		}
		boolean done = false;
		try {
			parameters.bind(statement);
			try (ResultSet rows = statement.executeQuery()) {
				if (!rows.next()) {
					throw new SQLException("Postgres answered without a row to a statement of the lease store");
				}
				int answering = rows.getInt("backend");
				if (answering != this.backend) {
					throw SqlFailure.otherBackend(this.backend, answering);
				}
				T read = answer.read(rows);
				done = true;
				return read;
			}
		}
		finally {
			if (!done) {
				this.prepared.remove(sql);
				statement.close();
			}
		}
	}

	/** A single value is bound as such, several as an array. */
	private static <T> void set(PreparedStatement statement, int index, String type, List<T> from,
			Function<T, @Nullable Object> value) throws SQLException {
		if (from.size() == 1) {
			statement.setObject(index, value.apply(from.get(0)), switch (type) {
				case "bigint" -> Types.BIGINT;
				case "boolean" -> Types.BOOLEAN;
				default -> Types.VARCHAR;
			});
		}
		else {
			setArray(statement, index, type, from, value);
		}
	}

	private static <T> void setArray(PreparedStatement statement, int index, String type, List<T> from,
			Function<T, @Nullable Object> value) throws SQLException {
		@Nullable Object[] values = new Object[from.size()];
		for (int i = 0; i < values.length; i++) {
			values[i] = value.apply(from.get(i));
		}
		statement.setArray(index, statement.getConnection().createArrayOf(type, values));
	}

	/** The database keeps microseconds. */
	private static @Nullable String text(@Nullable Instant instant) {
		return (instant != null) ? instant.truncatedTo(ChronoUnit.MICROS).toString() : null;
	}

	private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		@Nullable OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
		return (value != null) ? value.toInstant() : null;
	}

	private static Instant requireInstant(ResultSet row, String column) throws SQLException {
		return Objects.requireNonNull(instant(row, column), column);
	}

	/** Whether the session is over after this failure, rather than only a statement. */
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
	 * Who a row says the lease belongs to.
	 *
	 * @param owner the owner, or null if released
	 * @param token the token
	 */
	record Row(@Nullable String owner, long token) {
	}

	/**
	 * A lease that is to be given back.
	 *
	 * @param claim the claim
	 * @param completed the fire time that was completed, or null
	 * @param marked whether its row was marked by another session
	 */
	record Ended(Claim claim, @Nullable Instant completed, boolean marked) {

		/** No row has a token of 0: a lock without a grant is only unlocked. */
		long token() {
			LeaseGrant grant = this.claim.grant();
			return (grant != null) ? grant.token() : 0;
		}

		@Nullable String schedule() {
			LeaseGrant grant = this.claim.grant();
			GrantedFireTime fireTime = (grant != null) ? grant.fireTime() : null;
			return (fireTime != null && this.completed != null) ? fireTime.schedule() : null;
		}

	}

	/**
	 * How a release was answered.
	 *
	 * @param cleared whether the row still had our owner and token
	 * @param unlocked whether the session still had the advisory lock
	 */
	record Released(boolean cleared, boolean unlocked) {
	}

	private interface Binding {

		void bind(PreparedStatement statement) throws SQLException;

	}

	private interface Reading<T> {

		T read(ResultSet rows) throws SQLException;

	}

}
