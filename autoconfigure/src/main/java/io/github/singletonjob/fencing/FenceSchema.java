package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import io.github.singletonjob.lease.LeaseStoreException;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The tables of the fence: creates them, and verifies that they can be used.
 * <p>
 * Instances start at the same time, and {@code CREATE TABLE IF NOT EXISTS} fails for all
 * but one of them. So the tables are looked for first, and created in a transaction that
 * holds an advisory lock and looks again.
 */
public final class FenceSchema {

	/**
	 * The script that creates the tables on Postgres, on the class path.
	 */
	public static final String SCRIPT = "io/github/singletonjob/fencing/schema-postgresql.sql";

	// "SingJob1" in ASCII; any number will do that is the same in all instances
	private static final long LOCK = 0x53696e674a6f6231L;

	private static final String LOCK_TIMEOUT = "10s";

	private static final int PORTABLE_TRIES = 3;

	private final DataSource dataSource;

	private final FenceTable table;

	/**
	 * Creates the schema's view of a data source. Nothing is asked yet.
	 * @param dataSource the guarded data source, or the one that it guards
	 */
	public FenceSchema(DataSource dataSource) {
		this.dataSource = FencedDataSources.unguarded(dataSource);
		this.table = FencedDataSources.table(dataSource);
	}

	/**
	 * Creates the tables that are missing. Does nothing to a table that exists.
	 * @throws FenceUnusableException if the database refused
	 * @throws LeaseStoreException if the database did not answer
	 */
	public void initialize() {
		new FenceProbe(this.dataSource).ask((connection) -> {
			FenceProbe.requireUsable(connection);
			if (!this.table.dialect(connection).isPortable()) {
				createOnPostgres(connection);
			}
			// A table without its key can be seen in H2; the script waits until it has it
			else if (this.table.dialect(connection) == FenceDialect.H2 || isIncomplete(connection)) {
				createPortably(connection);
			}
		});
	}

	/**
	 * Verifies that the tables exist with the columns and the keys that are needed, that
	 * they may be read and written, and that the server can be written and is new enough.
	 * @throws FenceUnusableException if something is missing; it says what to do
	 * @throws LeaseStoreException if the database did not answer
	 */
	public void verify() {
		new FenceProbe(this.dataSource).ask((connection) -> {
			FenceProbe.requireUsable(connection);
			FenceProbe.requireTables(connection, this.table.find(connection));
		});
	}

	private boolean isIncomplete(Connection connection) throws SQLException {
		String fence = this.table.find(connection);
		if (fence == null) {
			return true;
		}
		FenceDialect dialect = this.table.dialect(connection);
		return !(dialect.isPortable() ? new PortableProbe(connection, dialect).hasFireTimes()
				: new PostgresProbe(connection).isComplete(fence));
	}

	// Such a database commits by itself. Of several that create a table at once, some may
	// be told that it exists, and there are two tables
	private void createPortably(Connection connection) throws SQLException {
		for (int tries = 1;; tries++) {
			try {
				executeScript(connection);
				return;
			}
			catch (SQLException ex) {
				if (!isIncomplete(connection)) {
					return;
				}
				if (tries == PORTABLE_TRIES) {
					throw ex;
				}
			}
		}
	}

	private void createOnPostgres(Connection connection) throws SQLException {
		if (isIncomplete(connection)) {
			inTransaction(connection);
		}
	}

	private void inTransaction(Connection connection) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		connection.setAutoCommit(false);
		try {
			create(connection);
			connection.commit();
		}
		catch (SQLException | RuntimeException ex) {
			rollback(connection, ex);
			throw ex;
		}
		connection.setAutoCommit(autoCommit);
	}

	private void create(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("set local lock_timeout = '" + LOCK_TIMEOUT + "'");
			try (ResultSet locked = statement.executeQuery("select pg_advisory_xact_lock(" + LOCK + ")")) {
				locked.next();
			}
		}
		if (isIncomplete(connection)) {
			besideTheFence(connection);
			executeScript(connection);
		}
	}

	/** An older version's fence has no fire times yet: they belong beside it. */
	private void besideTheFence(Connection connection) throws SQLException {
		String fence = this.table.find(connection);
		if (fence != null) {
			try (Statement statement = connection.createStatement()) {
				statement.execute("set local search_path to " + FenceTable.schema(fence));
			}
		}
	}

	private void executeScript(Connection connection) throws SQLException {
		try {
			ScriptUtils.executeSqlScript(connection, new ClassPathResource(this.table.dialect(connection).script()));
		}
		catch (ScriptException ex) {
			if (ex.getCause() instanceof SQLException cause) {
				throw cause;
			}
			throw ex;
		}
	}

	private static void rollback(Connection connection, Exception cause) {
		try {
			connection.rollback();
			connection.setAutoCommit(true);
		}
		catch (SQLException ex) {
			cause.addSuppressed(ex);
		}
	}

}
