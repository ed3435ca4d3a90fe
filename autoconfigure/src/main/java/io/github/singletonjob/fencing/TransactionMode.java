package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Autocommit off, until it is closed; then the connection is as it was, because not every
 * pool sees to that itself, and statements on a connection without autocommit would never
 * be committed.
 */
final class TransactionMode implements AutoCloseable {

	private static final int KEPT = -1;

	private final Connection connection;

	private final boolean autoCommit;

	private final int isolation;

	private TransactionMode(Connection connection, boolean autoCommit, int isolation) {
		this.connection = connection;
		this.autoCommit = autoCommit;
		this.isolation = isolation;
	}

	/**
	 * Switches autocommit off.
	 * @param connection a connection without an open transaction
	 * @param readCommitted whether also to switch to READ COMMITTED: at other levels
	 * there are snapshots, and locks on gaps where no row is
	 * @return what restores both
	 */
	static TransactionMode on(Connection connection, boolean readCommitted) throws SQLException {
		int isolation = readCommitted ? connection.getTransactionIsolation() : KEPT;
		TransactionMode mode = new TransactionMode(connection, connection.getAutoCommit(), isolation);
		try {
			mode.switchOn();
			return mode;
		}
		catch (SQLException ex) {
			mode.close();
			throw ex;
		}
	}

	private void switchOn() throws SQLException {
		if (this.isolation != KEPT) {
			this.connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		}
		this.connection.setAutoCommit(false);
	}

	@Override
	public void close() {
		RawConnections.restore(this.connection, () -> {
			this.connection.setAutoCommit(this.autoCommit);
			if (this.isolation != KEPT) {
				this.connection.setTransactionIsolation(this.isolation);
			}
		});
	}

}
