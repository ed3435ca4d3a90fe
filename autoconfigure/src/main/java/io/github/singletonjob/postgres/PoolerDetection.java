package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * Finds a pooler that gives a connection another session for each transaction. Three
 * signs, none of which a connection with a session of its own can show:
 * <ol>
 * <li>Two connections that are open at once have the same backend: a pooler that is idle
 * gives its one warm session to whoever asks.</li>
 * <li>A session setting of the one connection is seen by the other, or is gone.</li>
 * <li>The backend of a connection changes. To provoke that, two transactions are open at
 * once, so that there are two sessions, and end in both orders: a pooler that hands out
 * the session which was given back last swaps them in the one order, a pooler that hands
 * out the one which waits longest in the other.</li>
 * </ol>
 */
final class PoolerDetection {

	private static final int ROUNDS = 6;

	private static final String BACKEND = "select pg_backend_pid()";

	private static final String LEAVE_SETTING = "select set_config('singleton_job.probe', '%s', false)";

	private static final String READ_SETTING = "select coalesce(current_setting('singleton_job.probe', true), '')";

	private final Connection first;

	private final Connection second;

	/**
	 * Creates the detection.
	 * @param first a connection in autocommit mode
	 * @param second another one from the same source
	 */
	PoolerDetection(Connection first, Connection second) {
		this.first = first;
		this.second = second;
	}

	boolean find() throws SQLException {
		String firstBackend = ask(this.first, BACKEND);
		String secondBackend = ask(this.second, BACKEND);
		if (firstBackend.equals(secondBackend) || isSettingShared()) {
			return true;
		}
		for (int round = 0; round < ROUNDS; round++) {
			if (interleave(firstBackend, secondBackend, round % 2 == 0)) {
				return true;
			}
		}
		return false;
	}

	private boolean isSettingShared() throws SQLException {
		String nonce = UUID.randomUUID().toString();
		ask(this.first, LEAVE_SETTING.formatted(nonce));
		boolean shared = ask(this.second, READ_SETTING).equals(nonce) || !ask(this.first, READ_SETTING).equals(nonce);
		ask(this.first, LEAVE_SETTING.formatted(""));
		return shared;
	}

	private boolean interleave(String firstBackend, String secondBackend, boolean firstEndsFirst) throws SQLException {
		execute(this.first, "begin");
		execute(this.second, "begin");
		boolean changed = isChanged(firstBackend, secondBackend);
		execute(firstEndsFirst ? this.first : this.second, "commit");
		execute(firstEndsFirst ? this.second : this.first, "commit");
		return changed || isChanged(firstBackend, secondBackend);
	}

	private boolean isChanged(String firstBackend, String secondBackend) throws SQLException {
		return !ask(this.first, BACKEND).equals(firstBackend) || !ask(this.second, BACKEND).equals(secondBackend);
	}

	/** The driver's own transactions are prepared statements. */
	private static void execute(Connection connection, String command) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(command);
		}
	}

	/** Never a prepared statement, which a pooler can lose between two executions. */
	private static String ask(Connection connection, String question) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(question)) {
			row.next();
			return row.getString(1);
		}
	}

}
