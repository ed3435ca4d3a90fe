package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;

import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * "check; COMMIT" in one round trip: the last act of a fenced transaction.
 * <p>
 * The check divides by zero unless the fence rows of all runs have their token and owner.
 * The error aborts the transaction on the server, so that the COMMIT behind it cannot
 * happen whatever the client does. It locks the rows {@code FOR SHARE} until the commit
 * is done, which makes the raise of a next holder wait for exactly that time; weaker
 * locks, and a check without one, let stale transactions through. A transaction without
 * an id has written nothing, and takes no lock: the server knows, no flag of the client
 * is asked. What needs no id is not fenced: a NOTIFY alone, or rows of a foreign server.
 * <p>
 * On other databases than Postgres the check is {@link PortableCheck}.
 */
final class FenceCheck {

	static final String DIVISION_BY_ZERO = "22012";

	private static final String ID = "pg_catalog.pg_current_xact_id_if_assigned()";

	// A lock would be refused in a read-only transaction, where only temporary tables are
	// written, or what was written before it was declared so
	private static final String CHECK_READ_ONLY = "/* singleton-job: fails if it has written */ select where 1 / (" + ID
			+ " is null)::int = 0; commit";

	// Its error, a division by zero, shows up in the server's log with this text. No row
	// comes back: to send one costs the server more
	private static final String CHECK = "/* singleton-job: fails if the token is stale */ select where 1 / (" + ID
			+ " is null or %s)::int = 0; commit";

	// One query for each run: to count the rows of all in one costs the server more
	private static final String HOLDS = "exists (select from %s f where f.namespace = ? and f.name = ?"
			+ " and f.token = ? and f.owner = ? %s)";

	private final FenceTable table;

	private final @Nullable String lock;

	private volatile @Nullable String checkOfOne;

	private volatile @Nullable PortableCheck portable;

	FenceCheck(FenceTable table) {
		this(table, null);
	}

	// Tests weaken the lock to see that they would notice
	FenceCheck(FenceTable table, @Nullable String lock) {
		this.table = table;
		this.lock = lock;
	}

	FenceTable table() {
		return this.table;
	}

	/**
	 * Checks and, where that is one step, commits. The caller's commit must follow.
	 * @param connection the connection with the transaction
	 * @param grants what the transaction was collected under
	 * @throws SQLException if the transaction was not committed, or, without an answer of
	 * the database, if that is not known
	 */
	void commit(Connection connection, List<LeaseGrant> grants) throws SQLException {
		if (this.table.dialect(connection).isPortable()) {
			portable(connection).check(connection, grants);
			return;
		}
		if (connection.isReadOnly()) {
			commitReadOnly(connection);
			return;
		}
		try (PreparedStatement statement = connection.prepareStatement(sql(connection, grants.size()))) {
			// A default fetch size would ask for a cursor
			statement.setFetchSize(0);
			bind(statement, grants);
			statement.execute();
		}
	}

	private PortableCheck portable(Connection connection) throws SQLException {
		PortableCheck known = this.portable;
		if (known == null) {
			known = new PortableCheck(this.table.qualifiedName(connection), lock(connection));
			this.portable = known;
		}
		return known;
	}

	private String lock(Connection connection) throws SQLException {
		return (this.lock != null) ? this.lock : this.table.dialect(connection).lock();
	}

	private void commitReadOnly(Connection connection) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(CHECK_READ_ONLY)) {
			statement.setFetchSize(0);
			statement.execute();
		}
		catch (SQLException ex) {
			if (DIVISION_BY_ZERO.equals(ex.getSQLState())) {
				throw new SQLException("The transaction is declared read-only and has written nevertheless"
						+ " (a temporary table, or readOnlyMode=ignore): it cannot be fenced, and was rolled back."
						+ " Do not declare it read-only", "25006", ex);
			}
			throw ex;
		}
	}

	private String sql(Connection connection, int count) throws SQLException {
		if (count != 1) {
			return build(connection, count);
		}
		String known = this.checkOfOne;
		if (known == null) {
			known = build(connection, count);
			this.checkOfOne = known;
		}
		return known;
	}

	private String build(Connection connection, int count) throws SQLException {
		String holds = HOLDS.formatted(this.table.qualifiedName(connection), lock(connection));
		return CHECK.formatted(String.join(" and ", Collections.nCopies(count, holds)));
	}

	private static void bind(PreparedStatement statement, List<LeaseGrant> grants) throws SQLException {
		int index = 0;
		for (LeaseGrant grant : grants) {
			statement.setString(++index, grant.job().namespace());
			statement.setString(++index, grant.job().name());
			statement.setLong(++index, grant.token());
			statement.setString(++index, grant.owner());
		}
	}

}
