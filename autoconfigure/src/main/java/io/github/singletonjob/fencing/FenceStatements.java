package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Prepares the fence's own statements.
 *
 * @param connection a connection in a transaction
 * @param table where the fence is
 * @param timeoutSeconds how long a statement may take, 0 for the session's own limit
 */
record FenceStatements(Connection connection, FenceTable table, int timeoutSeconds) {

	/**
	 * Prepares a statement.
	 * @param sql its text, with the name of the fence as the first placeholder of a
	 * format and that of the fire times' table as the second
	 * @return the statement, to be closed by the caller
	 * @throws SQLException if there is no fence
	 */
	PreparedStatement prepare(String sql) throws SQLException {
		PreparedStatement statement = this.connection.prepareStatement(
				sql.formatted(this.table.qualifiedName(this.connection), this.table.fireTimes(this.connection)));
		if (this.timeoutSeconds > 0) {
			statement.setQueryTimeout(this.timeoutSeconds);
		}
		return statement;
	}

	boolean isPortable() throws SQLException {
		return this.table.dialect(this.connection).isPortable();
	}

}
