package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What makes a connection a lease session.
 *
 * @param applicationName how the session is called in {@code pg_stat_activity}
 * @param times the time-outs
 */
record SessionSettings(String applicationName, SessionTimes times) {

	private static final Log logger = LogFactory.getLog(SessionSettings.class);

	/**
	 * Applies them.
	 * @return the process id of the backend that has them now
	 */
	int apply(Connection connection) throws SQLException {
		LeaseConnection.limitWait(connection, this.times.openingTimeout());
		connection.setAutoCommit(true);
		int backend = configure(connection);
		checkForClient(connection);
		return backend;
	}

	private int configure(Connection connection) throws SQLException {
		String ttl = Long.toString(this.times.ttlMillis());
		try (PreparedStatement statement = connection.prepareStatement(LeaseSql.SETTINGS)) {
			statement.setString(1, this.applicationName);
			statement.setString(2, ttl);
			statement.setString(3, ttl);
			statement.setString(4, Long.toString(this.times.statementTimeoutMillis()));
			statement.setString(5, Long.toString(this.times.lockTimeoutMillis()));
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return row.getInt("backend");
			}
		}
	}

	private void checkForClient(Connection connection) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(LeaseSql.CHECK_FOR_CLIENT)) {
			statement.setString(1, Long.toString(this.times.callTimeout().toMillis()));
			statement.execute();
		}
		catch (SQLException ex) {
			if (SqlFailure.endsSession(ex) || connection.isClosed()) {
				throw ex;
			}
			logger.debug("client_connection_check_interval is not supported by this server", ex);
		}
	}

}
