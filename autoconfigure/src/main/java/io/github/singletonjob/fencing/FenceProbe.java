package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
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

	/** Longer than a lock is waited for when the table is created. */
	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(15);

	private static final String APPLY = "Apply %s (in the jar of singleton-job) to the guarded database with your migration tool,"
			+ " or let it be created at start with 'singleton-job.jdbc.initialize-schema: always'";

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
						applyScript(connection)
								+ ". The application's role needs SELECT, INSERT and UPDATE on its tables",
						ex);
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

	static String applyScript(Connection connection) throws SQLException {
		return APPLY.formatted(FenceDialect.of(connection).script());
	}

	static void requireUsable(Connection connection) throws SQLException {
		DatabaseMetaData metaData = connection.getMetaData();
		FenceDialect dialect = FenceDialect.of(connection);
		if (!dialect.product().equals(metaData.getDatabaseProductName())) {
			throw new FenceUnusableException(
					"The fence works on PostgreSQL, MariaDB and H2, and the guarded data source is connected to "
							+ metaData.getDatabaseProductName() + " " + metaData.getDatabaseProductVersion()
							+ ", where nobody has tested it",
					"Guard a data source of those, or switch fencing off if stale writes do no harm", null);
		}
		if (!dialect.isNewEnough(metaData.getDatabaseMajorVersion(), metaData.getDatabaseMinorVersion())) {
			throw new FenceUnusableException(
					"The fence needs " + dialect.product() + " " + dialect.oldestVersion()
							+ " or newer, and the guarded database has version " + metaData.getDatabaseProductVersion(),
					"Upgrade the server", null);
		}
		if (dialect.isPortable()) {
			new PortableProbe(connection, dialect).requireWriter();
		}
		else {
			new PostgresProbe(connection).requireWriter();
		}
	}

	static void requireTables(Connection connection, @Nullable String fence) throws SQLException {
		FenceDialect dialect = FenceDialect.of(connection);
		String action = applyScript(connection);
		if (dialect.isPortable()) {
			new PortableProbe(connection, dialect).requireTables(fence, action);
		}
		else {
			new PostgresProbe(connection).requireTables(fence, action);
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
