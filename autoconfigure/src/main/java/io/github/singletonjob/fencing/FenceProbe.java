package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the guarded database whether it can hold the fence, and tells a wrong answer from
 * no answer: the first must be mended by somebody, the second may mend itself.
 */
final class FenceProbe {

	private static final int OLDEST_VERSION = 14;

	/** Longer than a lock is waited for when the table is created. */
	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(15);

	private static final String APPLY_SCRIPT = "Apply " + FenceSchema.SCRIPT
			+ " (in the jar of singleton-job) to the guarded database with your migration tool, or let it be created"
			+ " at start with 'singleton-job.jdbc.initialize-schema: always'";

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

	private static final String FIRE_TIME_KEY = KEY.formatted(3, "'namespace', 'name', 'schedule'");

	private static final String RIGHTS = """
			select has_table_privilege(t.oid, 'select') and has_table_privilege(t.oid, 'insert')
				and has_table_privilege(t.oid, 'update')
			from (select ?::regclass::oid as oid) t""";

	private final DataSource dataSource;

	FenceProbe(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	void ask(Question question) {
		try (Connection connection = RawConnections.open(this.dataSource)) {
			answer(connection, question);
		}
		catch (SQLException ex) {
			throw new LeaseStoreException("The guarded database did not answer when the fence was probed ("
					+ ex.getMessage() + "): whether it can hold the fence is not known yet", ex);
		}
	}

	private void answer(Connection connection, Question question) throws SQLException {
		try (ReplyBound bound = ReplyBound.on(connection, REPLY_TIMEOUT)) {
			question.ask(connection);
		}
		catch (SQLException ex) {
			if (isAnswer(ex.getSQLState())) {
				throw new FenceUnusableException("The guarded database refused to set up the fence: " + ex.getMessage(),
						APPLY_SCRIPT + ". The application's role needs SELECT, INSERT and UPDATE on its tables", ex);
			}
			throw ex;
		}
	}

	// Connections and resources (08, 53), time-outs and other locks (55, 40),
	// interventions
	// and failures of the server (57, 58, XX) may be over the next time
	private static boolean isAnswer(@Nullable String state) {
		return state != null && Stream.of("08", "53", "55", "40", "57", "58", "XX").noneMatch(state::startsWith);
	}

	static void requirePostgres(Connection connection) throws SQLException {
		DatabaseMetaData metaData = connection.getMetaData();
		if (!"PostgreSQL".equals(metaData.getDatabaseProductName())) {
			throw new FenceUnusableException(
					"The fence works on PostgreSQL only, and the guarded data source is connected to "
							+ metaData.getDatabaseProductName() + " " + metaData.getDatabaseProductVersion(),
					"Guard a PostgreSQL data source, or switch fencing off if stale writes do no harm", null);
		}
		if (metaData.getDatabaseMajorVersion() < OLDEST_VERSION) {
			throw new FenceUnusableException("The fence needs PostgreSQL " + OLDEST_VERSION
					+ " or newer, and the guarded database has version " + metaData.getDatabaseProductVersion(),
					"Upgrade the server", null);
		}
		if (isTrue(connection, "select pg_is_in_recovery()", null)) {
			throw new FenceUnusableException(
					"The guarded data source is connected to a replica, which cannot be written",
					"Let its URL lead to the primary, for example with targetServerType=primary", null);
		}
		if (isTrue(connection, "select current_setting('transaction_read_only')::boolean", null)) {
			throw new FenceUnusableException("The transactions of the guarded data source are read-only by default",
					"Guard a data source that may write: look for a read-only pool and for default_transaction_read_only",
					null);
		}
	}

	static void requireTables(Connection connection, @Nullable String table) throws SQLException {
		if (table == null) {
			throw new FenceUnusableException("The fence table \"" + FenceTable.NAME
					+ "\" is in no schema of the search path of the guarded data source", APPLY_SCRIPT, null);
		}
		require(isTrue(connection, FENCE_COLUMNS, table), table + " has not the columns of a fence");
		require(isTrue(connection, FENCE_KEY, table), table + " has no unique key on (namespace, name)");
		requireRights(connection, table);
		requireFireTimes(connection, FenceTable.fireTimes(table));
	}

	private static void requireFireTimes(Connection connection, String table) throws SQLException {
		if (!exists(connection, table)) {
			throw new FenceUnusableException(
					"The table " + table + ", which keeps the fire times of jobs beside the fence, does not exist",
					APPLY_SCRIPT, null);
		}
		require(isTrue(connection, FIRE_TIME_COLUMNS, table), table + " has not the columns of fire times");
		require(isTrue(connection, FIRE_TIME_KEY, table), table + " has no unique key on (namespace, name, schedule)");
		requireRights(connection, table);
	}

	static boolean exists(Connection connection, String table) throws SQLException {
		return isTrue(connection, EXISTS, table);
	}

	private static void requireRights(Connection connection, String table) throws SQLException {
		if (!isTrue(connection, RIGHTS, table)) {
			throw new FenceUnusableException("The application's role may not read and write the fence table " + table,
					"GRANT SELECT, INSERT, UPDATE ON " + table + " to the role of the guarded data source", null);
		}
	}

	private static void require(boolean condition, String complaint) {
		if (!condition) {
			throw new FenceUnusableException("The table " + complaint,
					"Rename or drop that table if it is another application's or an older version's. " + APPLY_SCRIPT,
					null);
		}
	}

	private static boolean isTrue(Connection connection, String query, @Nullable String table) throws SQLException {
		if (table == null) {
			try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(query)) {
				return result.next() && result.getBoolean(1);
			}
		}
		try (PreparedStatement statement = connection.prepareStatement(query)) {
			statement.setString(1, table);
			try (ResultSet result = statement.executeQuery()) {
				return result.next() && result.getBoolean(1);
			}
		}
	}

	/**
	 * What is asked on the connection.
	 */
	@FunctionalInterface
	interface Question {

		void ask(Connection connection) throws SQLException;

	}

}
