package io.github.singletonjob.postgres;

import java.net.SocketTimeoutException;
import java.sql.SQLException;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What the server's errors mean for a lease, and what to do about them.
 */
final class SqlFailure {

	static final String CONNECTION_FAILURE = "08006";

	static final String PROTOCOL_VIOLATION = "08P01";

	static final String UNDEFINED_TABLE = "42P01";

	static final String NOT_PERMITTED = "42501";

	static final String CREATE_TABLE_HINT = "Create it: set singleton-job.jdbc.initialize-schema=always, or have"
			+ " somebody with the right to do so execute io/github/singletonjob/postgres/schema.sql (in the jar) in"
			+ " the schema that the store's user finds first";

	static final String GRANT_HINT = "Have an administrator execute: GRANT SELECT, INSERT, UPDATE ON " + LeaseSql.TABLE
			+ ", " + LeaseSql.FIRE_TIME_TABLE + " TO the store's user";

	static final String POOLER_ACTION = "Give the store a connection straight to Postgres (a DataSource bean"
			+ " qualified @SingletonJobDataSource), or one through a pooler that keeps one session for each connection"
			+ " (PgBouncer: pool_mode = session). The application itself can go on using the pooler";

	private static final String WHO_BLOCKS = "select a.pid, a.application_name, a.state, a.xact_start, a.query"
			+ " from pg_locks l join pg_stat_activity a using (pid) where l.relation in ('" + LeaseSql.TABLE
			+ "'::regclass, '" + LeaseSql.FIRE_TIME_TABLE + "'::regclass)";

	private SqlFailure() {
	}

	/**
	 * Whether the session is over: a broken connection (class 08), one ended by the
	 * server (57P01 to 57P05) or by its idle-in-transaction time-out (25P03).
	 */
	static boolean endsSession(SQLException failure) {
		String state = state(failure);
		return state.startsWith("08") || state.startsWith("57P") || state.equals("25P03");
	}

	/**
	 * Whether only a pooler that shares sessions answers like this: it refuses a
	 * transaction (08P01), or a statement that was prepared is unknown (26000) or known
	 * already (42P05) in the next session.
	 */
	static boolean isOfPooler(SQLException failure) {
		return switch (state(failure)) {
			case PROTOCOL_VIOLATION, "26000", "42P05" -> true;
			default -> false;
		};
	}

	static String state(SQLException failure) {
		@Nullable String state = failure.getSQLState();
		return (state != null) ? state : "";
	}

	/**
	 * Which of the tables an error is about; every language of the server's messages
	 * names it.
	 */
	static String tableOf(SQLException failure) {
		String message = String.valueOf(failure.getMessage());
		return message.contains(LeaseSql.FIRE_TIME_TABLE) ? LeaseSql.FIRE_TIME_TABLE : LeaseSql.TABLE;
	}

	static SQLException otherBackend(int expected, int answering) {
		return new SQLException("The lease session was opened on backend " + expected + ", and backend " + answering
				+ " answers: a connection pooler or a fail-over has changed the session, and the leases on it are lost."
				+ " A pooler must keep one session for each connection", CONNECTION_FAILURE);
	}

	static SQLException notFreed(long lockKey, SQLException cause) {
		return new SQLException("The advisory lock " + lockKey + " could not be given back, so its session is ended,"
				+ " with all leases on it", CONNECTION_FAILURE, cause);
	}

	/**
	 * Whether the reply did not come in time, rather than the connection having ended.
	 */
	static boolean isSilence(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SocketTimeoutException) {
				return true;
			}
		}
		return false;
	}

	/**
	 * What a backend that did not answer was waiting for.
	 * @param type its {@code wait_event_type}, or null
	 * @param event its {@code wait_event}, or null
	 * @return the end of an error message
	 */
	static String waitingFor(@Nullable String type, @Nullable String event) {
		if (event == null) {
			return ". Its server process was working; the server may be overloaded";
		}
		if (event.equals("SyncRep")) {
			return ". Its server process was waiting for replication (SyncRep): no synchronous standby confirms what is"
					+ " committed. Start the standby, or take it out of synchronous_standby_names";
		}
		return switch ((type != null) ? type : "") {
			case "IO" -> ". Its server process was waiting for the disk (" + event + ")";
			case "Lock" ->
				". Its server process was waiting for a lock (" + event + "). To see who has it: " + WHO_BLOCKS;
			case "Client" -> ". Its server process had nothing to do: the network loses what is sent";
			default -> ". Its server process was waiting for " + type + ": " + event;
		};
	}

	/**
	 * What it means that no session could be opened.
	 */
	static LeaseStoreException opening(SQLException failure) {
		String message = failure.getMessage();
		if (state(failure).equals(PROTOCOL_VIOLATION) && message != null && message.contains("startup parameter")) {
			return new UnusableStoreException(
					"A connection pooler in front of Postgres refuses the lease session (" + message + ")",
					"Give the store a connection straight to Postgres (a DataSource bean qualified"
							+ " @SingletonJobDataSource), or, if the pooler keeps one session for each connection"
							+ " (pool_mode = session), have it ignore that parameter (ignore_startup_parameters)",
					failure);
		}
		if (isRefusal(failure)) {
			return new UnusableStoreException("Postgres refuses the lease session: " + message,
					"Check the user, the password and the name of the database that the store connects with,"
							+ " and pg_hba.conf on the server",
					failure);
		}
		Throwable root = failure;
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			root = cause;
		}
		String reason = (root != failure) ? ": " + root : "";
		return new LeaseStoreException("No lease session could be opened on Postgres: " + message + " (SQL state "
				+ state(failure) + ")" + reason, failure);
	}

	/** Unknown role, wrong password (class 28), unknown database. */
	private static boolean isRefusal(SQLException failure) {
		return state(failure).startsWith("28") || state(failure).equals("3D000");
	}

	/** A pooler that shares sessions is in between. */
	static UnusableStoreException pooler(SQLException failure) {
		return new UnusableStoreException("There is a pooler between the lease store and Postgres that does not"
				+ " keep a session for each connection (" + failure.getMessage() + ")", POOLER_ACTION, failure);
	}

	static LeaseStoreException unknown(String purpose, SQLException failure) {
		return new LeaseStoreException(purpose + " failed: " + explain(failure), failure);
	}

	/** What went wrong and what to do, without a final full stop. */
	static String explain(SQLException failure) {
		return switch (state(failure)) {
			case UNDEFINED_TABLE -> "the table " + tableOf(failure) + " does not exist. " + CREATE_TABLE_HINT
					+ ". The next attempt finds it";
			case NOT_PERMITTED -> "the store's user lacks a right (" + failure.getMessage() + "). " + GRANT_HINT;
			case "55P03" -> "another session has locked its row or the table " + LeaseSql.TABLE + " or "
					+ LeaseSql.FIRE_TIME_TABLE + ", and did not let go in time. To see who: " + WHO_BLOCKS;
			case "57014" -> "the statement was cancelled or ran into the time-out. If the server is not overloaded,"
					+ " see who is in the way: " + WHO_BLOCKS;
			case "23505" -> "its row contradicts another one in " + LeaseSql.TABLE
					+ ", which only rows can do that were" + " written by hand: " + failure.getMessage();
			case "25006" -> "the server is read-only, probably a stand-by. The store needs the primary";
			default -> failure.getMessage() + " (SQL state " + state(failure) + ")";
		};
	}

}
