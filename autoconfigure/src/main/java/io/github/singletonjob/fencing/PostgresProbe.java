package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;

/**
 * Asks Postgres whether it can hold the fence.
 */
final class PostgresProbe {

	private static final String EXISTS = "select to_regclass(?) is not null";

	private static final String COLUMNS = """
			select count(*) = %d from pg_catalog.pg_attribute a
			join (values %s) as needed (name, type)
			on needed.name = a.attname and needed.type = pg_catalog.format_type(a.atttypid, null)
			where a.attrelid = ?::regclass and not a.attisdropped""";

	private static final String FENCE_COLUMNS = COLUMNS.formatted(6, """
			('namespace', 'text'), ('name', 'text'), ('token', 'bigint'), ('owner', 'text'), ('holder', 'text'),
			('raised_at', 'timestamp with time zone')""");

	private static final String FIRE_TIME_COLUMNS = COLUMNS.formatted(6, """
			('namespace', 'text'), ('name', 'text'), ('schedule', 'text'), ('token', 'bigint'),
			('started', 'timestamp with time zone'), ('completed', 'timestamp with time zone')""");

	private static final String KEY = """
			select exists (select from pg_catalog.pg_index i where i.indrelid = ?::regclass
				and i.indisunique and i.indpred is null and i.indnkeyatts = %1$d
				and (select count(*) from pg_catalog.pg_attribute a where a.attrelid = i.indrelid
					and a.attnum = any (i.indkey) and a.attname in (%2$s)) = %1$d)""";

	private static final String FENCE_KEY = KEY.formatted(2, "'namespace', 'name'");

	private static final String STANDS_AT = """
			select to_regprocedure(? || '(oid,text,text,bigint,text)') is not null""";

	private static final String FIRE_TIME_KEY = KEY.formatted(3, "'namespace', 'name', 'schedule'");

	private static final String RIGHTS = """
			select has_table_privilege(t.oid, 'select') and has_table_privilege(t.oid, 'insert')
				and has_table_privilege(t.oid, 'update')
			from (select ?::regclass::oid as oid) t""";

	private final Connection connection;

	PostgresProbe(Connection connection) {
		this.connection = connection;
	}

	void requireWriter() throws SQLException {
		if (isTrue("select pg_is_in_recovery()", null)) {
			throw new FenceUnusableException(
					"The guarded data source is connected to a replica, which cannot be written",
					"Let its URL lead to the primary, for example with targetServerType=primary", null);
		}
		if (isTrue("select current_setting('transaction_read_only')::boolean", null)) {
			throw new FenceUnusableException("The transactions of the guarded data source are read-only by default",
					"Guard a data source that may write: look for a read-only pool and for default_transaction_read_only",
					null);
		}
	}

	void requireTables(@Nullable String fence, String action) throws SQLException {
		if (fence == null) {
			throw new FenceUnusableException("The fence table \"" + FenceTable.NAME
					+ "\" is in no schema of the search path of the guarded data source", action, null);
		}
		require(isTrue(FENCE_COLUMNS, fence), fence + " has not the columns of a fence", action);
		require(isTrue(FENCE_KEY, fence), fence + " has no unique key on (namespace, name)", action);
		requireRights(fence);
		requireFireTimes(FenceTable.fireTimes(fence), action);
		if (!isTrue(STANDS_AT, FenceTable.standsAt(fence))) {
			throw new FenceUnusableException(
					"The function " + FenceTable.standsAt(fence)
							+ ", which compares a token with the fence and locks its row, does not exist",
					action, null);
		}
	}

	private void requireFireTimes(String table, String action) throws SQLException {
		if (!exists(table)) {
			throw new FenceUnusableException(
					"The table " + table + ", which keeps the fire times of jobs beside the fence, does not exist",
					action, null);
		}
		require(isTrue(FIRE_TIME_COLUMNS, table), table + " has not the columns of fire times", action);
		require(isTrue(FIRE_TIME_KEY, table), table + " has no unique key on (namespace, name, schedule)", action);
		requireRights(table);
	}

	boolean isComplete(String fence) throws SQLException {
		return exists(FenceTable.fireTimes(fence)) && isTrue(STANDS_AT, FenceTable.standsAt(fence));
	}

	private boolean exists(String table) throws SQLException {
		return isTrue(EXISTS, table);
	}

	private void requireRights(String table) throws SQLException {
		if (!isTrue(RIGHTS, table)) {
			throw new FenceUnusableException("The application's role may not read and write the fence table " + table,
					"GRANT SELECT, INSERT, UPDATE ON " + table + " to the role of the guarded data source", null);
		}
	}

	private static void require(boolean condition, String complaint, String action) {
		if (!condition) {
			throw new FenceUnusableException("The table " + complaint,
					"Rename or drop that table if it is another application's or an older version's. " + action, null);
		}
	}

	private boolean isTrue(String query, @Nullable String table) throws SQLException {
		if (table == null) {
			try (Statement statement = this.connection.createStatement();
					ResultSet result = statement.executeQuery(query)) {
				return result.next() && result.getBoolean(1);
			}
		}
		try (PreparedStatement statement = this.connection.prepareStatement(query)) {
			statement.setString(1, table);
			try (ResultSet result = statement.executeQuery()) {
				return result.next() && result.getBoolean(1);
			}
		}
	}

}
