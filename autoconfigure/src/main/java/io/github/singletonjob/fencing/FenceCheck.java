package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;

import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * "lock; check; COMMIT" in one round trip: the last act of a fenced transaction.
 * <p>
 * The lock is the job's {@link FenceLock}, in share mode and until the commit is done,
 * while a raise holds it exclusively: so a raise waits for those commits that are on
 * their way, and a commit that waits for a raise begins its check when that is done. The
 * check is a statement of its own because its snapshot has to be newer than the lock. It
 * fails unless the fence rows of all runs have their token and owner. Its error aborts
 * the transaction on the server, so that the COMMIT behind it cannot happen whatever the
 * client does. Neither writes anything.
 * <p>
 * At REPEATABLE READ and SERIALIZABLE the snapshot is that of the transaction. There a
 * transaction that has written also locks the fence rows, which fails if one has changed
 * since. One that has not is compared with what its snapshot shows.
 * <p>
 * On other databases than Postgres the check is {@link PortableCheck}.
 */
final class FenceCheck {

	// A text that is no number: so the check fails, with the text in the server's message
	private static final String INVALID_TEXT = "22P02";

	private static final String STALE = "singleton-job: the fence does not stand at the token of this transaction";

	private static final String NO_RIGHT = "singleton-job: may not read the fence: ";

	private static final String WRITABLE = "singleton-job: not read-only";

	private static final String ID = "pg_catalog.pg_current_xact_id_if_assigned()";

	// No row comes back: to send one costs the server more. The role is known here only,
	// where it is set for the transaction
	private static final String LOCK = "select where case when current_user = session_user"
			+ " or pg_catalog.has_schema_privilege(%s::pg_catalog.regnamespace::oid, 'usage')"
			+ " and pg_catalog.has_table_privilege(%s, 'select')"
			+ " then pg_catalog.pg_advisory_xact_lock_shared(?) is null else ('" + NO_RIGHT
			+ "' || current_user || ';')::int = 0 end; ";

	// Its error shows up in the server's log with this text. A replica can be behind, and
	// writes nothing
	private static final String CHECK = "/* singleton-job: fails if the token is stale */"
			+ " select where (case when (%s) or pg_catalog.pg_is_in_recovery() then '0' else '" + STALE
			+ "' end)::int = 1";

	// One query for each run: to count the rows of all in one costs the server more
	private static final String HOLDS = "exists (select from %s f where f.namespace = ? and f.name = ?"
			+ " and f.token = ? and f.owner = ? and (pg_catalog.current_setting('transaction_isolation') ="
			+ " 'read committed' or " + ID + " is null or %s(f.tableoid, f.namespace, f.name, f.token, f.owner)))";

	// To compare the token would cost a reader more than all the rest of its commit
	private static final String CHECK_READ_ONLY = "/* singleton-job: fails if it can have written */ select where (case"
			+ " when " + ID + " is null and pg_catalog.current_setting('transaction_read_only') = 'on' then '0' else '"
			+ WRITABLE + "' end)::int = 1";

	private static final String COMMIT = "; commit";

	private final FenceTable table;

	private final UnaryOperator<String> text;

	private volatile @Nullable String checkOfOne;

	private volatile @Nullable PortableCheck portable;

	private volatile @Nullable Boolean declaresReadOnly;

	FenceCheck(FenceTable table) {
		this(table, UnaryOperator.identity());
	}

	// Tests weaken the text to see that they would notice
	FenceCheck(FenceTable table, UnaryOperator<String> text) {
		this.table = table;
		this.text = text;
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
		check(connection, grants, COMMIT);
	}

	/**
	 * Checks without a commit. The lock lasts until whoever has begun the transaction
	 * ends it.
	 * @param connection the connection with the transaction
	 * @param grants what the transaction was collected under
	 * @throws SQLException if one of them is not what the fence stands at, or that is not
	 * known
	 */
	void check(Connection connection, List<LeaseGrant> grants) throws SQLException {
		check(connection, grants, "");
	}

	private void check(Connection connection, List<LeaseGrant> grants, String last) throws SQLException {
		if (this.table.dialect(connection).isPortable()) {
			portable(connection).check(connection, grants);
			return;
		}
		if (connection.isReadOnly() && declaresReadOnly(connection)) {
			checkReadOnly(connection, last);
			return;
		}
		// The same order everywhere, so that runs do not wait for each other in a circle
		List<LeaseGrant> ordered = (grants.size() > 1) ? grants.stream().sorted(PortableCheck.ORDER).toList() : grants;
		try (PreparedStatement statement = connection.prepareStatement(sql(connection, ordered.size(), last))) {
			// A default fetch size would ask for a cursor
			statement.setFetchSize(0);
			bind(statement, ordered);
			statement.execute();
		}
	}

	private PortableCheck portable(Connection connection) throws SQLException {
		PortableCheck known = this.portable;
		if (known == null) {
			known = new PortableCheck(this.text
				.apply(PortableCheck.sql(this.table.qualifiedName(connection), this.table.dialect(connection))));
			this.portable = known;
		}
		return known;
	}

	// Whether the driver tells the server that a connection is read-only, asked once
	private boolean declaresReadOnly(Connection connection) throws SQLException {
		Boolean known = this.declaresReadOnly;
		if (known == null) {
			try (Statement statement = connection.createStatement();
					ResultSet row = statement
						.executeQuery("select pg_catalog.current_setting('transaction_read_only')::boolean")) {
				known = row.next() && row.getBoolean(1);
			}
			this.declaresReadOnly = known;
		}
		return known;
	}

	private void checkReadOnly(Connection connection, String last) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(CHECK_READ_ONLY + last)) {
			statement.setFetchSize(0);
			statement.execute();
		}
		catch (SQLException ex) {
			if (fails(ex, WRITABLE)) {
				throw new SQLException(
						"The connection is declared read-only, and its transaction has written nevertheless"
								+ " (to a temporary table), or the server does not know that it is: it cannot be fenced, and was"
								+ " rolled back. Do not declare it read-only",
						"25006", ex);
			}
			throw ex;
		}
	}

	/**
	 * Whether a transaction does not see its tokens in the fence.
	 * @param failure why it was aborted
	 */
	static boolean isStale(SQLException failure) {
		return fails(failure, STALE);
	}

	/**
	 * The role that a transaction had set, if it may not read the fence.
	 * @param failure why the transaction was aborted
	 */
	static @Nullable String roleWithoutRights(SQLException failure) {
		if (!fails(failure, NO_RIGHT)) {
			return null;
		}
		String message = String.valueOf(failure.getMessage());
		return message.substring(message.indexOf(NO_RIGHT) + NO_RIGHT.length(), message.lastIndexOf(';'));
	}

	private static boolean fails(SQLException failure, String text) {
		return INVALID_TEXT.equals(failure.getSQLState()) && String.valueOf(failure.getMessage()).contains(text);
	}

	private String sql(Connection connection, int count, String last) throws SQLException {
		if (count != 1 || last.isEmpty()) {
			return build(connection, count, last);
		}
		String known = this.checkOfOne;
		if (known == null) {
			known = build(connection, count, last);
			this.checkOfOne = known;
		}
		return known;
	}

	private String build(Connection connection, int count, String last) throws SQLException {
		String name = this.table.qualifiedName(connection);
		String lock = LOCK.formatted(literal(FenceTable.schema(name)), literal(name));
		String holds = HOLDS.formatted(name, FenceTable.standsAt(name));
		return this.text.apply(
				lock.repeat(count) + CHECK.formatted(String.join(" and ", Collections.nCopies(count, holds))) + last);
	}

	private static String literal(String name) {
		return "'" + name.replace("'", "''") + "'";
	}

	private static void bind(PreparedStatement statement, List<LeaseGrant> grants) throws SQLException {
		int index = 0;
		for (LeaseGrant grant : grants) {
			statement.setLong(++index, FenceLock.key(grant.job()));
		}
		for (LeaseGrant grant : grants) {
			statement.setString(++index, grant.job().namespace());
			statement.setString(++index, grant.job().name());
			statement.setLong(++index, grant.token());
			statement.setString(++index, grant.owner());
		}
	}

}
