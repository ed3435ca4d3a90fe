package io.github.singletonjob.postgres;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The JDBC side of watching. Holds no lease. Used by one thread, except for
 * {@link #close()}.
 */
final class WatchConnection implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(WatchConnection.class);

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(3);

	private final CountDownLatch closed = new CountDownLatch(1);

	private final Connection connection;

	private final @Nullable Notifications notifications;

	private WatchConnection(Connection connection) throws SQLException {
		this.connection = connection;
		LeaseConnection.limitWait(connection, REPLY_TIMEOUT);
		connection.setAutoCommit(true);
		this.notifications = listen();
	}

	/**
	 * Opens a connection that is told of releases, as far as a pooler lets that through.
	 * @param source where it comes from
	 * @param applicationName how its session is called in {@code pg_stat_activity}
	 */
	static WatchConnection open(SessionSource source, String applicationName) throws SQLException {
		Connection connection = source.open();
		try {
			WatchConnection watch = new WatchConnection(connection);
			watch.configure(applicationName);
			return watch;
		}
		catch (SQLException | RuntimeException ex) {
			LeaseConnection.end(connection);
			throw ex;
		}
	}

	private void configure(String applicationName) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.WATCH_SETTINGS)) {
			statement.setString(1, applicationName);
			statement.execute();
		}
	}

	private @Nullable Notifications listen() throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute("listen " + LeaseSql.CHANNEL);
			return Notifications.of(this.connection);
		}
		catch (SQLException ex) {
			if (SqlFailure.endsSession(ex) || this.connection.isClosed()) {
				throw ex;
			}
			logger.debug("Releases cannot be listened to, leases are looked at instead", ex);
			return null;
		}
	}

	/**
	 * Waits until something was released or the time is over.
	 * @param millis how long, in milliseconds, at least 1
	 * @return the keys that were released, as text
	 */
	Set<String> await(int millis) throws SQLException, InterruptedException {
		Notifications told = this.notifications;
		if (told != null) {
			return told.await(millis);
		}
		if (this.closed.await(millis, TimeUnit.MILLISECONDS)) {
			throw new SQLException("The connection was closed", SqlFailure.CONNECTION_FAILURE);
		}
		return Set.of();
	}

	/** Which of the keys somebody holds. */
	Set<Long> held(Collection<Long> keys) throws SQLException {
		Array asked = this.connection.createArrayOf("bigint", keys.toArray());
		Set<Long> held = new HashSet<>();
		try (PreparedStatement statement = this.connection.prepareStatement(LeaseSql.HELD)) {
			statement.setArray(1, asked);
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					held.add(row.getLong(1));
				}
			}
		}
		return held;
	}

	@Override
	public void close() {
		this.closed.countDown();
		LeaseConnection.end(this.connection);
	}

}
