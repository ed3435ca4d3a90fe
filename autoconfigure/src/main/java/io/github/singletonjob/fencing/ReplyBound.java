package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

/**
 * Bounds the wait for each reply on a connection, until it is closed. A reply that did
 * not come in time ends the connection, which the driver then closes.
 */
final class ReplyBound implements AutoCloseable {

	private static final int NOT_SET = -1;

	private final Connection connection;

	private final int former;

	private ReplyBound(Connection connection, int former) {
		this.connection = connection;
		this.former = former;
	}

	/**
	 * Sets the bound.
	 * @param connection a connection that nobody else uses meanwhile
	 * @param time how long a reply may take
	 * @return what restores the former bound
	 */
	static ReplyBound on(Connection connection, Duration time) throws SQLException {
		try {
			int former = connection.getNetworkTimeout();
			set(connection, (int) Math.min(Integer.MAX_VALUE, Math.max(1, time.toMillis())));
			return new ReplyBound(connection, former);
		}
		catch (SQLFeatureNotSupportedException ex) {
			// No driver of Postgres; the fence says so itself
			return new ReplyBound(connection, NOT_SET);
		}
	}

	private static void set(Connection connection, int millis) throws SQLException {
		connection.setNetworkTimeout(Runnable::run, millis);
	}

	@Override
	public void close() {
		if (this.former != NOT_SET) {
			RawConnections.restore(this.connection, () -> set(this.connection, this.former));
		}
	}

}
