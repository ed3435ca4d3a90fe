package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

/**
 * Asks a database with the portable check whether it can hold the fence.
 */
final class PortableProbe {

	private static final String FENCE_COLUMNS = "namespace, name, token, owner, holder, raised_at";

	private static final String FIRE_TIME_COLUMNS = "namespace, name, schedule, token, started, completed";

	private static final String EXISTS = "select count(*) from INFORMATION_SCHEMA.TABLES"
			+ " where TABLE_SCHEMA = schema() and lower(TABLE_NAME) = '%s'";

	private static final String ENGINE = "select engine from information_schema.tables"
			+ " where table_schema = schema() and table_name = '%s'";

	private final Connection connection;

	private final FenceDialect dialect;

	PortableProbe(Connection connection, FenceDialect dialect) {
		this.connection = connection;
		this.dialect = dialect;
	}

	void requireWriter() throws SQLException {
		if (this.dialect != FenceDialect.MARIADB) {
			return;
		}
		if ("1".equals(answer("select @@global.read_only", 1))) {
			throw new FenceUnusableException(
					"The guarded data source is connected to a read-only server, a replica for" + " example",
					"Let its URL lead to the primary", null);
		}
		if ("ON".equalsIgnoreCase(answer("show variables like 'wsrep_on'", 2))) {
			throw new FenceUnusableException(
					"The guarded database is a Galera cluster, where the lock of a check on one node does not hold back"
							+ " a newer run on another: a stale holder could write",
					"Guard a MariaDB that is no Galera cluster, or guard its rows one by one and switch fencing off",
					null);
		}
	}

	void requireTables(@Nullable String fence, String action) throws SQLException {
		if (fence == null) {
			throw new FenceUnusableException("The fence table \"" + FenceTable.NAME
					+ "\" is not in the current schema of the guarded data source", action, null);
		}
		requireKey(FenceTable.NAME, List.of("namespace", "name"), action);
		requireUsable(FenceTable.NAME, fence, FENCE_COLUMNS);
		String fireTimes = FenceTable.fireTimes(fence);
		if (!hasFireTimes()) {
			throw new FenceUnusableException(
					"The table " + fireTimes + ", which keeps the fire times of jobs beside the fence, does not exist",
					action, null);
		}
		requireKey(FenceTable.FIRE_TIMES, List.of("namespace", "name", "schedule"), action);
		requireUsable(FenceTable.FIRE_TIMES, fireTimes, FIRE_TIME_COLUMNS);
	}

	boolean hasFireTimes() throws SQLException {
		return "1".equals(answer(EXISTS.formatted(FenceTable.FIRE_TIMES), 1));
	}

	private void requireUsable(String name, String table, String columns) throws SQLException {
		if (this.dialect == FenceDialect.MARIADB && !"InnoDB".equalsIgnoreCase(answer(ENGINE.formatted(name), 1))) {
			throw new FenceUnusableException("The table " + table + " is not kept by InnoDB, which locks single rows",
					"ALTER TABLE " + table + " ENGINE = InnoDB", null);
		}
		requireRights(table, columns);
	}

	// Nothing is changed; a right or a column that is missing is an error all the same
	private void requireRights(String table, String columns) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.executeUpdate("insert into " + table + " (" + columns + ") select " + columns + " from " + table
					+ " where 1 = 0");
			statement.executeUpdate("update " + table + " set token = token where 1 = 0");
		}
	}

	private void requireKey(String name, List<String> key, String action) throws SQLException {
		DatabaseMetaData metaData = this.connection.getMetaData();
		Set<String> columns = new TreeSet<>();
		try (ResultSet keys = metaData.getPrimaryKeys(this.connection.getCatalog(), this.connection.getSchema(),
				metaData.storesUpperCaseIdentifiers() ? name.toUpperCase(Locale.ROOT) : name)) {
			while (keys.next()) {
				columns.add(keys.getString("COLUMN_NAME").toLowerCase(Locale.ROOT));
			}
		}
		if (!columns.equals(Set.copyOf(key))) {
			throw new FenceUnusableException(
					"The table " + name + " has not the primary key (" + String.join(", ", key) + ")",
					"Rename or drop that table if it is another application's. " + action, null);
		}
	}

	private @Nullable String answer(String query, int column) throws SQLException {
		try (Statement statement = this.connection.createStatement();
				ResultSet result = statement.executeQuery(query)) {
			return result.next() ? result.getString(column) : null;
		}
	}

}
