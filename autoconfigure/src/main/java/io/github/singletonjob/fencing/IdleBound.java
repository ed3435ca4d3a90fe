package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import io.github.singletonjob.fencing.SessionBounds.Bound;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long one connection may be idle inside a transaction while it works for
 * runs. A holder that is frozen inside a transaction keeps its rows locked; the bound
 * lets the server end it, so that the next holder waits for a time to live and not for
 * ever.
 * <p>
 * The bound is set at the first use of a session in a run and taken back at its next use
 * outside of one; both cost a round trip, the uses in between none. A setting that is
 * changed inside a transaction is undone by its rollback, therefore such a change is
 * remembered only when it has been committed.
 */
final class IdleBound {

	private static final long UNKNOWN = -1;

	private static final String SETTING = "'idle_in_transaction_session_timeout'";

	// A shorter time-out that the session has already is kept
	private static final String SET = "select before, pg_catalog.set_config(" + SETTING
			+ ", case when extract(epoch from before::interval) * 1000 between 1 and ? then before else ? end, false)"
			+ " from (select coalesce(?, pg_catalog.current_setting(" + SETTING + ")) as before) s";

	private static final String RESTORE = "select pg_catalog.set_config(" + SETTING + ", ?, false)";

	private final SessionBounds bounds;

	private final Connection connection;

	private long settled = UNKNOWN;

	private @Nullable Change uncommitted;

	IdleBound(SessionBounds bounds, Connection connection) {
		this.bounds = bounds;
		this.connection = connection;
	}

	void work(CollectedRuns runs) throws SQLException {
		settle(runs.isEmpty() ? 0 : this.bounds.millis(runs.asList()));
	}

	private void settle(long millis) throws SQLException {
		if (millis == this.settled) {
			return;
		}
		if (millis != 0 || !this.bounds.isEmpty()) {
			Object session = this.bounds.session(this.connection);
			if (session != null) {
				settle(session, millis);
			}
		}
		this.settled = millis;
	}

	private void settle(Object session, long millis) throws SQLException {
		Bound bound = this.bounds.find(session);
		if (((bound != null) ? bound.millis() : 0) == millis) {
			return;
		}
		Bound changed = (millis != 0) ? set(bound, millis) : null;
		if (changed == null && bound != null) {
			restore(bound);
		}
		if (this.connection.getAutoCommit()) {
			this.bounds.remember(session, changed);
		}
		else {
			this.uncommitted = new Change(session, changed);
		}
	}

	private Bound set(@Nullable Bound bound, long millis) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(SET)) {
			statement.setLong(1, millis);
			statement.setString(2, Long.toString(millis));
			statement.setString(3, (bound != null) ? bound.before() : null);
			try (ResultSet result = statement.executeQuery()) {
				result.next();
				return new Bound(result.getString(1), millis);
			}
		}
	}

	private void restore(Bound bound) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(RESTORE)) {
			statement.setString(1, bound.before());
			statement.execute();
		}
	}

	void committed() {
		Change change = this.uncommitted;
		if (change != null) {
			this.bounds.remember(change.session(), change.bound());
			this.uncommitted = null;
		}
	}

	void rolledBack() {
		if (this.uncommitted != null) {
			this.uncommitted = null;
			this.settled = UNKNOWN;
		}
	}

	private record Change(Object session, @Nullable Bound bound) {
	}

}
