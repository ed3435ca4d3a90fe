package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Opens connections for the fence's own statements.
 */
final class RawConnections {

	private static final Log logger = LogFactory.getLog(RawConnections.class);

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

	/**
	 * Restores what was changed on a connection. A failure does not change what has been
	 * done on it: the connection is cut, so that nobody uses it as it is.
	 * @param connection the connection; nothing is done if it is closed
	 * @param restoring restores it
	 */
	static void restore(Connection connection, Restoring restoring) {
		try {
			if (!connection.isClosed()) {
				restoring.restore();
			}
		}
		catch (SQLException ex) {
			logger.debug("A connection of the fence could not be restored, and is cut", ex);
			cut(connection);
		}
	}

	private static void cut(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.warn("A connection of the fence could neither be restored nor cut: " + ex.getMessage());
		}
	}

	/**
	 * Restores something on a connection.
	 */
	@FunctionalInterface
	interface Restoring {

		void restore() throws SQLException;

	}

}
