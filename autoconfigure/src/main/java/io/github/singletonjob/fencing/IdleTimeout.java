package io.github.singletonjob.fencing;

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

/**
 * Limits how long one connection may be idle inside a transaction while it works for
 * runs. A holder that is frozen inside a transaction keeps its rows locked; the limit
 * lets the server end it, so that the next holder waits for a time to live and not for
 * ever.
 * <p>
 * The limit is set at the first use of a session in a run and taken back at its next use
 * outside of one; both cost a round trip, the uses in between none. A setting that is
 * changed inside a transaction is undone by its rollback, therefore such a change is
 * remembered only when it has been committed.
 */
final class IdleTimeout {

	private static final long UNKNOWN = -1;

	private static final String SETTING = "'idle_in_transaction_session_timeout'";

	// A shorter time-out that the session has already is kept
	private static final String SET = "select before, pg_catalog.set_config(" + SETTING
			+ ", case when extract(epoch from before::interval) * 1000 between 1 and ? then before else ? end, false)"
			+ " from (select coalesce(?, pg_catalog.current_setting(" + SETTING + ")) as before) s";

	private static final String RESTORE = "select pg_catalog.set_config(" + SETTING + ", ?, false)";

	private final Sessions sessions;

	private final Connection connection;

	private long settled = UNKNOWN;

	private @Nullable Change uncommitted;

	IdleTimeout(Sessions sessions, Connection connection) {
		this.sessions = sessions;
		this.connection = connection;
	}

	void limit(List<LeasedRun> runs) throws SQLException {
		long millis = runs.isEmpty() ? 0 : this.sessions.millis(runs);
		if (millis == this.settled) {
			return;
		}
		if (millis != 0 || this.sessions.isAnyLimited()) {
			Object session = this.sessions.session(this.connection);
			if (session != null) {
				limit(session, millis);
			}
		}
		this.settled = millis;
	}

	private void limit(Object session, long millis) throws SQLException {
		Limit limit = this.sessions.find(session);
		if (((limit != null) ? limit.millis() : 0) == millis) {
			return;
		}
		Limit changed = (millis != 0) ? set(limit, millis) : null;
		if (changed == null && limit != null) {
			restore(limit);
		}
		if (this.connection.getAutoCommit()) {
			this.sessions.remember(session, changed);
		}
		else {
			this.uncommitted = new Change(session, changed);
		}
	}

	private Limit set(@Nullable Limit limit, long millis) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(SET)) {
			statement.setLong(1, millis);
			statement.setString(2, Long.toString(millis));
			statement.setString(3, (limit != null) ? limit.before() : null);
			try (ResultSet result = statement.executeQuery()) {
				result.next();
				return new Limit(result.getString(1), millis);
			}
		}
	}

	private void restore(Limit limit) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(RESTORE)) {
			statement.setString(1, limit.before());
			statement.execute();
		}
	}

	void committed() {
		Change change = this.uncommitted;
		if (change != null) {
			this.sessions.remember(change.session(), change.limit());
			this.uncommitted = null;
		}
	}

	void rolledBack() {
		if (this.uncommitted != null) {
			this.uncommitted = null;
			this.settled = UNKNOWN;
		}
	}

	private record Change(Object session, @Nullable Limit limit) {
	}

	/**
	 * A limit that was set on a session.
	 *
	 * @param before the setting that the session had before
	 * @param millis what the runs wanted
	 */
	private record Limit(String before, long millis) {
	}

	/**
	 * The sessions of a data source that are limited. The key is the driver's own
	 * connection, which pools hand out again and again; of another driver's connection
	 * nobody can tell which session it is, so it gets no limit.
	 */
	static final class Sessions {

		private static final @Nullable Class<?> DRIVER_CONNECTION = driverConnection();

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

		// What identifies the session, or null if it cannot be told
		private @Nullable Object session(Connection connection) throws SQLException {
			if (DRIVER_CONNECTION == null || !connection.isWrapperFor(DRIVER_CONNECTION)) {
				return null;
			}
			return connection.unwrap(DRIVER_CONNECTION);
		}

		private @Nullable Limit find(Object session) {
			return this.limits.get(session);
		}

		private void remember(Object session, @Nullable Limit limit) {
			if (limit != null) {
				this.limits.put(session, limit);
			}
			else {
				this.limits.remove(session);
			}
		}

	}

}
