package io.github.singletonjob.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;

/**
 * Creates the tables of the Postgres store that are missing. Instances that start at the
 * same time take turns, because {@code create table if not exists} fails when two do it
 * at once.
 */
public final class PostgresSchema {

	private static final String SCRIPT = "schema.sql";

	/** Longer than a statement may take. */
	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(15);

	/** Bounds of this transaction alone, in milliseconds. */
	private static final String LIMITS = """
			select set_config('lock_timeout', '10000', true), set_config('statement_timeout', '10000', true)""";

	/** The key is an arbitrary number, the same in every instance. */
	private static final String TAKE_TURNS = "select pg_advisory_xact_lock(7261534012984417613)";

	private static final String IS_MISSING = "select to_regclass('%s') is null";

	private final SessionSource source;

	/**
	 * Creates the initializer; nothing is opened yet.
	 * @param source where its connection comes from
	 */
	public PostgresSchema(SessionSource source) {
		this.source = source;
	}

	/**
	 * Creates the tables that are missing, each on its own.
	 * @throws UnusableStoreException if the user may not create them; the action has the
	 * SQL
	 * @throws LeaseStoreException if the database does not answer
	 */
	public void initialize() {
		try (Connection connection = open()) {
			int replyTimeout = connection.getNetworkTimeout();
			LeaseStatements.limitReply(connection, REPLY_TIMEOUT);
			try {
				initialize(connection);
			}
			finally {
				if (!connection.isClosed()) {
					connection.setNetworkTimeout(Runnable::run, replyTimeout);
				}
			}
		}
		catch (SQLException ex) {
			throw notCreated(ex);
		}
	}

	private static void initialize(Connection connection) throws SQLException {
		PostgresCheck.requirePostgres(connection);
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			createIfMissing(statement);
			connection.commit();
		}
		finally {
			// A connection that did not answer in time is closed
			if (!connection.isClosed()) {
				connection.rollback();
				connection.setAutoCommit(true);
			}
		}
	}

	private Connection open() {
		try {
			return this.source.open();
		}
		catch (SQLException ex) {
			throw SqlFailure.opening(ex);
		}
	}

	private static void createIfMissing(Statement statement) throws SQLException {
		statement.execute(LIMITS);
		statement.execute(TAKE_TURNS);
		String[] scripts = script().split(";", 2);
		createIfMissing(statement, LeaseSql.TABLE, scripts[0]);
		createIfMissing(statement, LeaseSql.FIRE_TIME_TABLE, scripts[1]);
	}

	private static void createIfMissing(Statement statement, String table, String script) throws SQLException {
		if (isMissing(statement, table)) {
			statement.execute(script);
		}
	}

	private static boolean isMissing(Statement statement, String table) throws SQLException {
		try (ResultSet row = statement.executeQuery(IS_MISSING.formatted(table))) {
			return row.next() && row.getBoolean(1);
		}
	}

	private static LeaseStoreException notCreated(SQLException failure) {
		if (SqlFailure.isOfPooler(failure)) {
			return SqlFailure.pooler(failure);
		}
		return switch (SqlFailure.state(failure)) {
			case SqlFailure.NOT_PERMITTED, "3F000",
					"25006" ->
				new UnusableStoreException(
						"A table of the lease store, " + LeaseSql.TABLE + " or " + LeaseSql.FIRE_TIME_TABLE
								+ ", is missing and could not be created (" + failure.getMessage() + ")",
						"Have an administrator execute, in a schema that the store's user finds:\n\n" + script()
								+ "\n\n" + SqlFailure.GRANT_HINT,
						failure);
			default -> new LeaseStoreException(
					"The tables of the lease store could not be created: " + SqlFailure.explain(failure), failure);
		};
	}

	/**
	 * The SQL that creates the tables.
	 * @return one statement for each table
	 */
	public static String script() {
		try (InputStream script = PostgresSchema.class.getResourceAsStream(SCRIPT)) {
			if (script == null) {
				throw new IllegalStateException("The resource " + SCRIPT + " is missing from the jar of the library");
			}
			return new String(script.readAllBytes(), StandardCharsets.UTF_8).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
