package io.github.singletonjob.fencing;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.fastpath.Fastpath;
import org.postgresql.fastpath.FastpathArg;

import static org.awaitility.Awaitility.await;

/**
 * A holder, as a process, that keeps objects of the driver after the transaction in which
 * it got them, and writes with them once the table {@code resumed} has a row. Says what
 * it does on its standard output.
 */
public final class KeptObjectsProcess {

	private KeptObjectsProcess() {
	}

	public static void main(String[] args) throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase(args[0], (config) -> {
		}, FencingSettings.defaults())) {
			int pay = database.outside().sql("select 'pay'::regproc::oid::int").query(Integer.class).single();
			database.in(database.begin("mails", 1), (connection) -> {
				connection.setAutoCommit(false);
				PGConnection driver = connection.unwrap(PGConnection.class);
				CopyManager copyManager = driver.getCopyAPI();
				Fastpath fastpath = driver.getFastpathAPI();
				connection.commit();
				connection.setAutoCommit(true);
				System.out.println("SAYS KEPT");
				await().atMost(Duration.ofMinutes(1)).until(() -> isResumed(database));
				write(() -> copyManager.copyIn("copy invoice (id) from stdin", new StringReader("1\n")));
				write(() -> fastpath.fastpath(pay, new FastpathArg[0]));
				write(() -> insert(connection));
				System.out.println("SAYS END");
			});
		}
	}

	private static boolean isResumed(GuardedDatabase database) {
		return database.outside().sql("select count(*) > 0 from resumed").query(Boolean.class).single();
	}

	private static Object insert(Connection connection) throws SQLException {
		GuardedDatabase.insert(connection, 3);
		return connection;
	}

	private static void write(Write write) {
		try {
			System.out.println("SAYS WROTE " + write.write());
		}
		catch (SQLException | IOException | RuntimeException ex) {
			System.out.println("SAYS REFUSED " + ex.getMessage());
		}
	}

	@FunctionalInterface
	private interface Write {

		Object write() throws SQLException, IOException;

	}

}
