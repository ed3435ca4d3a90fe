package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Frees one key of a lease session, if it has it. A second failure ends the session,
 * because nobody else could get the job while it lives.
 *
 * @param connection the session
 * @param lockKey the key
 */
record KeyUnlock(Connection connection, long lockKey) {

	/**
	 * Frees it.
	 * @return whether the session had it
	 * @throws SQLException if the session is over
	 */
	boolean perform() throws SQLException {
		try {
			return unlockIfHeld();
		}
		catch (SQLException ex) {
			if (LeaseConnection.isBroken(this.connection, ex)) {
				throw ex;
			}
			return unlockOrEnd();
		}
	}

	private boolean unlockOrEnd() throws SQLException {
		try {
			return unlockIfHeld();
		}
		catch (SQLException ex) {
			throw SqlFailure.notFreed(this.lockKey, ex);
		}
	}

	private boolean unlockIfHeld() throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.UNLOCK_IF_HELD)) {
			statement.setLong(1, this.lockKey);
			statement.setLong(2, this.lockKey);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() && row.getBoolean(1);
			}
		}
	}

}
