package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariConfig;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

	private static String setting(Connection connection) throws SQLException {
		try (var statement = connection.createStatement();
				var result = statement.executeQuery("show idle_in_transaction_session_timeout")) {
			result.next();
			return result.getString(1);
		}
	}

}
