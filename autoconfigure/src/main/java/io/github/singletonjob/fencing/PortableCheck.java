package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;

import io.github.singletonjob.lease.LeaseGrant;

/**
 * The check as the last act of a transaction, for databases that cannot check and commit
 * in one step. The lock on the fence row lasts until the commit is done, so a raise waits
 * for exactly the transactions that were checked before it. Nobody but the client
 * compares and rolls back, and every transaction takes the lock, since such a database
 * does not say which of them wrote.
 */
final class PortableCheck {

	private static final String SERIALIZATION_FAILURE = "40001";

	// The same order everywhere, so that nested runs do not wait for each other in a
	// circle
	static final Comparator<LeaseGrant> ORDER = Comparator.comparing((LeaseGrant grant) -> grant.job().namespace())
		.thenComparing((grant) -> grant.job().name());

	private final String sql;

	/**
	 * Creates the check.
	 * @param sql its statement, see {@link #sql}
	 */
	PortableCheck(String sql) {
		this.sql = sql;
	}

	/**
	 * The statement that reads a row with a lock.
	 * @param table the qualified name of the fence table
	 * @param dialect what database it is
	 */
	static String sql(String table, FenceDialect dialect) {
		return "select token, owner from " + table + " where namespace = ? and name = ? " + dialect.lock();
	}

	/**
	 * Checks and locks.
	 * @param connection the connection with the transaction
	 * @param grants what the transaction was collected under
	 * @throws SQLException if one of them is not what the fence stands at, or that is not
	 * known
	 */
	void check(Connection connection, List<LeaseGrant> grants) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.sql)) {
			statement.setFetchSize(0);
			for (LeaseGrant grant : grants.stream().sorted(ORDER).toList()) {
				check(statement, grant);
			}
		}
	}

	private static void check(PreparedStatement statement, LeaseGrant grant) throws SQLException {
		statement.setString(1, grant.job().namespace());
		statement.setString(2, grant.job().name());
		try (ResultSet row = statement.executeQuery()) {
			if (!row.next() || row.getLong(1) != grant.token() || !grant.owner().equals(row.getString(2))) {
				throw new SQLException("The fence of " + grant.job() + " does not stand at token " + grant.token(),
						SERIALIZATION_FAILURE);
			}
		}
	}

}
