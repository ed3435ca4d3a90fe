package io.github.singletonjob.fencing;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;

import com.zaxxer.hikari.HikariConfig;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * How long a run may be idle inside a transaction before the server ends it, so that a
 * frozen holder does not block the next one.
 */
@Timeout(60)
class IdleTransactionTests {

	/** So short that standing still ends what is bounded by it. */
	private static final Duration SHORT_TTL = Duration.ofMillis(700);

	/** So long that nothing is ended where the bound is only looked at. */
	private static final Duration TTL = Duration.ofSeconds(7);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aHolderThatStandsStillInATransactionIsEnded(boolean autoCommit) throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(autoCommit))) {
			FakeRun run = database.begin("billing", 33).ttl(SHORT_TTL);
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> database.inTransaction(run, (connection) -> {
				insert(connection, 1);
				// Its successor wants the same row, and gets it
				database.begin("billing", 34);
				database.outside().sql("insert into invoice values (1, 34)").update();
				connection.commit();
			}));
			assertThat(database.outside().sql("select token from invoice").query(Long.class).single()).isEqualTo(34);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anApplicationsTransactionIsLeftAlone(boolean autoCommit) throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(autoCommit))) {
			FakeRun run = database.begin("billing", 33).ttl(SHORT_TTL);
			database.inTransaction(run, (connection) -> {
				assertThat(setting(connection)).isEqualTo("700ms");
				connection.commit();
			});
			try (Connection connection = database.guarded().getConnection()) {
				connection.setAutoCommit(false);
				insert(connection, 1);
				standStill();
				connection.commit();
			}
			assertThat(database.invoices()).isEqualTo(1);
			assertThat(settingOutside(database)).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRollbackDoesNotUndoTheBound(boolean autoCommit) throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(autoCommit))) {
			FakeRun run = database.begin("billing", 33).ttl(TTL);
			for (int i = 0; i < 3; i++) {
				database.inTransaction(run, (connection) -> {
					assertThat(setting(connection)).isEqualTo("7s");
					connection.rollback();
					assertThat(setting(connection)).isEqualTo("7s");
				});
			}
			assertThat(settingOutside(database)).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRollbackDoesNotUndoItsEnd(boolean autoCommit) throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(autoCommit))) {
			FakeRun run = database.begin("billing", 33).ttl(TTL);
			database.inTransaction(run, (connection) -> {
				insert(connection, 1);
				connection.commit();
			});
			for (int i = 0; i < 3; i++) {
				try (Connection connection = database.guarded().getConnection()) {
					connection.setAutoCommit(false);
					assertThat(setting(connection)).isEqualTo("0");
					connection.rollback();
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anApplicationsTransactionThatBeginsWithASavepointIsLeftAlone(boolean autoCommit) throws SQLException {
		try (GuardedDatabase database = limited(autoCommit, SHORT_TTL);
				Connection connection = database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			Savepoint savepoint = connection.setSavepoint();
			execute(connection, "select 1");
			connection.rollback(savepoint);
			connection.commit();
			insert(connection, 1);
			standStill();
			connection.commit();
			assertThat(database.invoices()).isEqualTo(1);
		}
	}

	@Test
	void aNestedTransactionOfSpringThatIsRolledBackUndoesNeitherTheLimitNorItsEnd() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(false))) {
			TransactionTemplate outer = new TransactionTemplate(new JdbcTransactionManager(database.guarded()));
			TransactionTemplate nested = new TransactionTemplate(new JdbcTransactionManager(database.guarded()));
			nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
			JdbcClient client = JdbcClient.create(database.guarded());
			Runnable work = () -> outer.executeWithoutResult((status) -> nested.executeWithoutResult((inner) -> {
				client.sql("select 1").query().singleValue();
				inner.setRollbackOnly();
			}));
			try (var scope = CurrentJobRun.open(database.begin("billing", 33).ttl(TTL))) {
				work.run();
				assertThat(outer.<String>execute((status) -> setting(client))).isEqualTo("7s");
			}
			work.run();
			assertThat(outer.<String>execute((status) -> setting(client))).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "rollback to a", "ROLLBACK WORK TO SAVEPOINT a", "select 1; /* x */ Rollback To a" })
	void aSavepointsRollbackByTextDoesNotUndoTheLimit(String rollback) throws SQLException {
		for (boolean prepared : new boolean[] { true, false }) {
			try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(false))) {
				FakeRun longer = database.begin("mails", 1).ttl(TTL.multipliedBy(2));
				FakeRun shorter = database.begin("billing", 33).ttl(TTL);
				Connection session = database.session();
				database.in(longer, (connection) -> {
					execute(connection, "savepoint a");
					try (var scope = CurrentJobRun.open(shorter)) {
						assertThat(setting(connection)).isEqualTo("7s");
						executeText(connection, rollback, prepared);
					}
					// Asked past the guard, which would set it again
					assertThat(setting(session)).isEqualTo("7s");
					connection.commit();
				});
				assertThat(settingOutside(database)).isEqualTo("0");
			}
		}
	}

	@Test
	void aSavepointsRollbackDoesNotUndoTheLimitOfAnotherRun() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase()) {
			FakeRun longer = database.begin("mails", 1).ttl(TTL.multipliedBy(2));
			FakeRun shorter = database.begin("billing", 33).ttl(TTL);
			Connection session = database.session();
			database.inTransaction(longer, (connection) -> {
				Savepoint savepoint = connection.setSavepoint();
				try (var scope = CurrentJobRun.open(shorter)) {
					assertThat(setting(connection)).isEqualTo("7s");
				}
				connection.rollback(savepoint);
				assertThat(setting(session)).isEqualTo("7s");
				connection.commit();
			});
			database.in(longer, (connection) -> assertThat(setting(connection)).isEqualTo("14s"));
			assertThat(settingOutside(database)).isEqualTo("0");
		}
	}

	@Test
	void aFailedTransactionCanBeRolledBackByTextInAnotherRun() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase()) {
			FakeRun longer = database.begin("mails", 1).ttl(TTL.multipliedBy(2));
			FakeRun shorter = database.begin("billing", 33).ttl(TTL);
			database.inTransaction(longer, (connection) -> {
				execute(connection, "savepoint a");
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> execute(connection, "select 1 / 0"));
				try (var scope = CurrentJobRun.open(shorter)) {
					execute(connection, "rollback to a");
					assertThat(setting(connection)).isEqualTo("7s");
				}
				connection.commit();
			});
			assertThat(settingOutside(database)).isEqualTo("0");
		}
	}

	@Test
	void aTransactionThatWasBegunByTextBeforeTheRunDoesNotUndoTheLimit() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase();
				Connection connection = database.guarded().getConnection()) {
			FakeRun stale = database.begin("billing", 33).ttl(TTL);
			FakeRun run = database.begin("billing", 34).ttl(TTL);
			execute(connection, "begin");
			insert(connection, 1);
			try (var scope = CurrentJobRun.open(stale)) {
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> insert(connection, 2));
			}
			try (var scope = CurrentJobRun.open(run)) {
				assertThat(setting(connection)).isEqualTo("7s");
			}
			assertThat(setting(connection)).isEqualTo("0");
		}
	}

	@Test
	void aHolderThatCopiesAndStandsStillIsEnded() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(false))) {
			FakeRun run = database.begin("billing", 33).ttl(SHORT_TTL);
			database.in(run, (connection) -> {
				copy(connection.unwrap(PGConnection.class));
				standStill();
				assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			});
			assertThat(database.invoices()).isZero();
		}
	}

	@Test
	void theTimeOutThatTheSessionHadIsRestored() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase(
				(config) -> config.setConnectionInitSql("set idle_in_transaction_session_timeout = '1min'"))) {
			FakeRun run = database.begin("billing", 33).ttl(TTL);
			database.in(run, (connection) -> assertThat(setting(connection)).isEqualTo("7s"));
			database.in(run.ttl(TTL.multipliedBy(2)), (connection) -> assertThat(setting(connection)).isEqualTo("14s"));
			assertThat(settingOutside(database)).isEqualTo("1min");
		}
	}

	@Test
	void aShorterTimeOutThatTheSessionHadIsKept() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase(
				(config) -> config.setConnectionInitSql("set idle_in_transaction_session_timeout = '300ms'"))) {
			FakeRun run = database.begin("billing", 33).ttl(TTL);
			database.in(run, (connection) -> assertThat(setting(connection)).isEqualTo("300ms"));
			assertThat(settingOutside(database)).isEqualTo("300ms");
		}
	}

	@Test
	void theShortestTtlOfTheRunsCounts() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase()) {
			FakeRun outer = database.begin("billing", 33).ttl(TTL);
			FakeRun inner = database.begin("mails", 1).inside(outer);
			database.in(inner, (connection) -> assertThat(setting(connection)).isEqualTo("7s"));
		}
	}

	@Test
	void aConnectionTakenBeforeTheRunIsBoundedToo() throws SQLException {
		try (GuardedDatabase database = new GuardedDatabase();
				Connection connection = database.guarded().getConnection()) {
			FakeRun run = database.begin("billing", 33).ttl(TTL);
			assertThat(setting(connection)).isEqualTo("0");
			try (var scope = CurrentJobRun.open(run)) {
				assertThat(setting(connection)).isEqualTo("7s");
			}
			assertThat(setting(connection)).isEqualTo("0");
		}
	}

	@Test
	void itCanBeSetAndSwitchedOff() throws SQLException {
		String url = PostgresServer.shared().newDatabase();
		try (var set = new GuardedDatabase(url, IdleTransactionTests::asItIs,
				new FencingSettings(Duration.ofSeconds(5)));
				var off = new GuardedDatabase(url, IdleTransactionTests::asItIs, new FencingSettings(Duration.ZERO))) {
			FakeRun run = set.begin("billing", 33).ttl(TTL);
			set.in(run, (connection) -> assertThat(setting(connection)).isEqualTo("5s"));
			off.in(run, (connection) -> assertThat(setting(connection)).isEqualTo("0"));
		}
	}

	/** A database whose only session has just worked for a run. */
	private static GuardedDatabase limited(boolean autoCommit, Duration ttl) throws SQLException {
		GuardedDatabase database = new GuardedDatabase((config) -> config.setAutoCommit(autoCommit));
		database.inTransaction(database.begin("billing", 33).ttl(ttl), (connection) -> {
			execute(connection, "select 1");
			connection.commit();
		});
		return database;
	}

	private static void executeText(Connection connection, String sql, boolean prepared) throws SQLException {
		if (!prepared) {
			execute(connection, sql);
			return;
		}
		try (var statement = connection.prepareStatement(sql)) {
			statement.execute();
		}
	}

	private static void copy(PGConnection driver) throws SQLException {
		try {
			driver.getCopyAPI().copyIn("copy invoice (id) from stdin", new StringReader("1\n"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void asItIs(HikariConfig config) {
		assertThat(config.isAutoCommit()).isTrue();
	}

	private static void standStill() {
		long start = System.nanoTime();
		await().until(() -> System.nanoTime() - start > SHORT_TTL.multipliedBy(2).toNanos());
	}

	private static String settingOutside(GuardedDatabase database) throws SQLException {
		try (Connection connection = database.guarded().getConnection()) {
			return setting(connection);
		}
	}

	private static String setting(JdbcClient client) {
		return client.sql("show idle_in_transaction_session_timeout").query(String.class).single();
	}

	private static String setting(Connection connection) throws SQLException {
		try (var statement = connection.createStatement();
				var result = statement.executeQuery("show idle_in_transaction_session_timeout")) {
			result.next();
			return result.getString(1);
		}
	}

}
