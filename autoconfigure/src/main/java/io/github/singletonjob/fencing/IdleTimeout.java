package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Limits how long one connection may be idle inside a transaction while it works for
 * runs. A holder that is frozen inside a transaction keeps its rows locked; the limit
 * lets the server end it, so that the next holder waits for a time to live and not for
 * ever.
 * <p>
 * The limit is set at the first use of a session in a run and taken back at its next use
 * outside of one; both cost a round trip, the uses in between none. A setting that is
 * changed inside a transaction is undone by its rollback, and by that to a savepoint. So
 * such a change counts when it has been committed, and after any rollback nobody knows
 * the setting: it is made again. What the session had before stays known meanwhile.
 */
final class IdleTimeout {

	private static final long UNKNOWN = -1;

	private static final String FAILED_TRANSACTION = "25P02";

	private static final String SETTING = "'idle_in_transaction_session_timeout'";

	// A shorter time-out that the session has already is kept
	private static final String SET = "select before, pg_catalog.set_config(" + SETTING
			+ ", case when extract(epoch from before::interval) * 1000 between 1 and ? then before else ? end, false)"
			+ " from (select coalesce(?, pg_catalog.current_setting(" + SETTING + ")) as before) s";

	private static final String RESTORE = "select pg_catalog.set_config(" + SETTING + ", ?, false)";

	private final Sessions sessions;

	private final Connection connection;

	private long settled = UNKNOWN;

	private @Nullable Change change;

	IdleTimeout(Sessions sessions, Connection connection) {
		this.sessions = sessions;
		this.connection = connection;
	}

	void limit(List<LeasedRun> runs) throws SQLException {
		long millis = runs.isEmpty() ? 0 : this.sessions.millis(runs);
		if (millis == this.settled) {
			return;
		}
		if (millis == 0 && !this.sessions.isAnyLimited()) {
			this.settled = 0;
			return;
		}
		Object session = Sessions.session(this.connection);
		if (session == null || limit(session, millis)) {
			this.settled = millis;
		}
	}

	private boolean limit(Object session, long millis) throws SQLException {
		Limit limit = this.sessions.find(session);
		if (((limit != null) ? limit.millis() : 0) == millis) {
			return true;
		}
		try {
			Limit changed = new Limit(change(limit, millis), millis);
			boolean inTransaction = !this.connection.getAutoCommit();
			// A limit may also be set in a transaction that was begun by a text
			this.change = (inTransaction || millis != 0) ? new Change(session, changed, inTransaction) : null;
			this.sessions.remember(session, inTransaction ? new Limit(changed.before(), UNKNOWN) : changed);
			return true;
		}
		catch (SQLException ex) {
			if (FAILED_TRANSACTION.equals(ex.getSQLState())) {
				// Only a rollback can follow
				return false;
			}
			throw ex;
		}
	}

	// Answers what the session had before
	private String change(@Nullable Limit limit, long millis) throws SQLException {
		if (millis == 0 && limit != null) {
			restore(limit);
			return limit.before();
		}
		return set(limit, millis);
	}

	private String set(@Nullable Limit limit, long millis) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(SET)) {
			statement.setLong(1, millis);
			statement.setString(2, Long.toString(millis));
			statement.setString(3, (limit != null) ? limit.before() : null);
			try (ResultSet result = statement.executeQuery()) {
				result.next();
				return result.getString(1);
			}
		}
	}

	private void restore(Limit limit) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(RESTORE)) {
			statement.setString(1, limit.before());
			statement.execute();
		}
	}

	/**
	 * Whether a rollback to a savepoint may undo what was changed.
	 * @return whether the limit was changed in this transaction
	 */
	boolean isUncommitted() {
		return this.change != null && this.change.inTransaction();
	}

	void committed() {
		Change committed = this.change;
		if (committed != null) {
			this.sessions.remember(committed.session(), committed.limit());
			this.change = null;
		}
	}

	/**
	 * Counts a rollback, also one to a savepoint.
	 */
	void rolledBack() {
		Change undone = this.change;
		if (undone != null) {
			this.sessions.remember(undone.session(), new Limit(undone.limit().before(), UNKNOWN));
			this.change = null;
			this.settled = UNKNOWN;
		}
	}

	/**
	 * What was changed since the last commit.
	 *
	 * @param session the session
	 * @param limit the new limit
	 * @param inTransaction whether it was changed inside a transaction
	 */
	private record Change(Object session, Limit limit, boolean inTransaction) {
	}

	/**
	 * A limit that was set on a session.
	 *
	 * @param before the setting that the session had before
	 * @param millis what the runs wanted, 0 if it was taken back
	 */
	private record Limit(String before, long millis) {
	}

	/**
	 * The sessions of a data source, and which of them are limited. A session is the
	 * driver's own connection, which pools hand out again and again. Of another driver's
	 * connection nobody can tell which session it is, so it gets no limit.
	 */
	static final class Sessions {

		private static final @Nullable Class<?> DRIVER_CONNECTION = driverConnection();

		private static final @Nullable Method PARAMETER = (DRIVER_CONNECTION != null)
				? ReflectionUtils.findMethod(DRIVER_CONNECTION, "getParameterStatus", String.class) : null;

		private final FencingSettings settings;

		private final Map<Object, Limit> limits = Collections.synchronizedMap(new WeakHashMap<>());

		Sessions(FencingSettings settings) {
			this.settings = settings;
		}

		private static @Nullable Class<?> driverConnection() {
			String name = "org.postgresql.PGConnection";
			ClassLoader loader = IdleTimeout.class.getClassLoader();
			return ClassUtils.isPresent(name, loader) ? ClassUtils.resolveClassName(name, loader) : null;
		}

		// What the runs want, 0 for no limit
		private long millis(List<LeasedRun> runs) {
			Duration configured = this.settings.idleInTransactionTimeout();
			if (configured != null) {
				return configured.toMillis();
			}
			long shortest = Integer.MAX_VALUE;
			for (LeasedRun run : runs) {
				shortest = Math.min(shortest, run.ttl().toMillis());
			}
			return shortest;
		}

		private boolean isAnyLimited() {
			return !this.limits.isEmpty();
		}

		/**
		 * A parameter of a session, as the server has reported it.
		 * @param connection any layer of its connection
		 * @param name the parameter
		 * @return its value, or null if it is not known
		 * @throws SQLException if the connection is closed
		 */
		static @Nullable String parameter(Connection connection, String name) throws SQLException {
			Object session = (PARAMETER != null) ? session(connection) : null;
			return (PARAMETER != null && session != null)
					? (String) ReflectionUtils.invokeMethod(PARAMETER, session, name) : null;
		}

		// What identifies the session, or null if it cannot be told
		private static @Nullable Object session(Connection connection) throws SQLException {
			if (DRIVER_CONNECTION == null || !connection.isWrapperFor(DRIVER_CONNECTION)) {
				return null;
			}
			return connection.unwrap(DRIVER_CONNECTION);
		}

		private @Nullable Limit find(Object session) {
			return this.limits.get(session);
		}

		private void remember(Object session, Limit limit) {
			if (limit.millis() != 0) {
				this.limits.put(session, limit);
			}
			else {
				this.limits.remove(session);
			}
		}

	}

}
