package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * Opens connections for the fence's own statements.
 */
final class RawConnections {

	private RawConnections() {
	}

	/**
	 * Opens a connection.
	 * @param dataSource where from
	 * @return the connection
	 * @throws SQLException if there is none, also where a pool says so by an unchecked
	 * exception, as HikariCP does when it is used for the first time
	 */
	static Connection open(DataSource dataSource) throws SQLException {
		try {
			return dataSource.getConnection();
		}
		catch (RuntimeException ex) {
			throw new SQLException("No connection: " + ex.getMessage(), "08001", ex);
		}
	}

}
