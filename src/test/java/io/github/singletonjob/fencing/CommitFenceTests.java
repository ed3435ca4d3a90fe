package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence.Raised;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.PgConnection;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;
import static org.awaitility.Awaitility.await;

/**
 * Transactions that a run commits by itself on a guarded connection.
 */
@Timeout(60)
class CommitFenceTests {

	private final GuardedDatabase database = new GuardedDatabase();

	@AfterEach
	void close() {
		this.database.close();
	}

	@Test
	void theHolderCommits() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			connection.commit();
		});
		assertThat(this.database.invoices()).isEqualTo(1);
		assertThat(run.refusal()).isNull();
	}

	@Test
	void aHolderThatWasOvertakenCannotCommit() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.inTransaction(stale, (connection) -> {
			insert(connection, 1);
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageStartingWith(
						"billing: the database refused token 33: holder holder-34 has token 34 since 20")
				.withMessageEndingWith("; the transaction was rolled back, nothing of it was written")
				.satisfies((ex) -> assertThat(stale.refusal()).isSameAs(ex));
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void swallowingTheRefusalWritesNothing() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.inTransaction(stale, (connection) -> {
			insert(connection, 1);
			this.database.begin("billing", 34);
			swallow(connection::commit);
			swallow(connection::commit);
			insert(connection, 2);
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(connection::commit);
			insert(connection, 3);
			swallow(() -> connection.setAutoCommit(true));
		});
		assertThat(this.database.invoices()).isZero();
		try (Connection connection = this.database.guarded().getConnection()) {
			assertThat(connection.getAutoCommit()).isTrue();
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aTokenOfTheSameNumberFromAnotherGrantIsRefused() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.outside().sql("update singleton_job set owner = 'somebody'").update();
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageContaining("holder holder-33 has that token by another grant");
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aFenceRowThatWasDeletedRefuses() throws SQLException {
		assertRefusedWithout("delete from singleton_job");
	}

	@Test
	void aFenceThatWasTruncatedRefuses() throws SQLException {
		assertRefusedWithout("truncate singleton_job");
	}

	private void assertRefusedWithout(String sql) throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.outside().sql(sql).update();
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageContaining("its row in public.singleton_job is missing (deleted or truncated)")
				.satisfies((ex) -> assertThat(run.refusal()).isSameAs(ex));
		});
		assertThat(this.database.invoices()).isZero();
		assertThat(this.database.raise(new FakeRun("billing", 34))).isInstanceOf(Raised.class);
	}

	@Test
	void aConnectionTakenBeforeTheRunIsFencedInside() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.begin("billing", 34);
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			try (var scope = CurrentJobRun.open(stale)) {
				insert(connection, 1);
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
			}
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aStatementPreparedBeforeTheRunIsFencedInside() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.begin("billing", 34);
		try (Connection connection = this.database.guarded().getConnection();
				var statement = connection.prepareStatement("insert into invoice values (1)")) {
			try (var scope = CurrentJobRun.open(stale)) {
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(statement::executeUpdate);
			}
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aCommitAfterTheRunIsFencedByIt() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			try (var scope = CurrentJobRun.open(stale)) {
				insert(connection, 1);
			}
			stale.end();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(connection::commit).withMessage("ended");
		}
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aConnectionThatARunHasOpenedAndNotUsedBelongsToNoRunAfterIt(boolean autoCommit) throws SQLException {
		try (var other = new GuardedDatabase(this.database.url(), (config) -> config.setAutoCommit(autoCommit),
				FencingSettings.defaults())) {
			FakeRun run = this.database.begin("billing", 33);
			Connection opened;
			try (var scope = CurrentJobRun.open(run)) {
				opened = other.guarded().getConnection();
				assertThat(opened.isWrapperFor(PGConnection.class)).isEqualTo(!autoCommit);
				assertThat(opened.isValid(1)).isTrue();
			}
			run.end();
			try (Connection connection = opened) {
				connection.setAutoCommit(false);
				insert(connection, 1);
				connection.commit();
			}
		}
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aConnectionThatARunHasOpenedIsFencedOnAThreadWithoutOne(boolean autoCommit) throws Exception {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.begin("billing", 34);
		this.database.in(stale, (connection) -> onAnotherThread(() -> {
			connection.setAutoCommit(autoCommit);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> {
				insert(connection, 1);
				connection.commit();
			});
		}));
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void everyStatementOnAConnectionThatARunHasOpenedIsFencedOnAThreadWithoutOne() throws Exception {
		FakeRun run = this.database.begin("billing", 33);
		this.database.in(run, (connection) -> onAnotherThread(() -> {
			insert(connection, 1);
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> insert(connection, 2));
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> insert(connection, 3));
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> connection.unwrap(PgConnection.class));
			run.end();
			insert(connection, 4);
		}));
		assertThat(this.database.outside().sql("select id from invoice order by id").query(Long.class).list())
			.containsExactly(1L, 4L);
	}

	@Test
	void whatIsDoneWhileTheRunIsSuspendedIsNotFencedOnAConnectionThatItHasOpened() throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.begin("billing", 34);
		this.database.in(stale, (connection) -> {
			try (var scope = CurrentJobRun.suspend()) {
				insert(connection, 1);
			}
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> insert(connection, 2));
			try (var scope = CurrentJobRun.suspend()) {
				insert(connection, 3);
			}
		});
		assertThat(this.database.invoices()).isEqualTo(2);
	}

	@Test
	void aConnectionThatALostRunHasOpenedIsRefusedOnAThreadWithoutOneWhileTheBodyGoesOn() throws Exception {
		FakeRun lost = this.database.begin("billing", 33).close("lost");
		this.database.in(lost, (connection) -> onAnotherThread(
				() -> assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> insert(connection, 1))));
		assertThat(this.database.invoices()).isZero();
	}

	private static void onAnotherThread(SqlCall call) {
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			assertThat(executor.submit(() -> {
				call.run();
				return null;
			})).succeedsWithin(GuardedDatabase.TIMEOUT);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void aCommitOnAnotherThreadIsFencedByTheRunThatWrote() throws Exception {
		FakeRun stale = this.database.begin("billing", 33);
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			this.database.inTransaction(stale, (connection) -> {
				insert(connection, 1);
				this.database.begin("billing", 34);
				assertThat(executor.submit(() -> {
					connection.commit();
					return null;
				})).failsWithin(GuardedDatabase.TIMEOUT)
					.withThrowableThat()
					.withCauseInstanceOf(StaleTokenException.class);
			});
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aRunInsideARunIsFencedByBoth() throws SQLException {
		FakeRun outer = this.database.begin("billing", 33);
		FakeRun inner = this.database.begin("mails", 7).inside(outer);
		this.database.inTransaction(inner, (connection) -> {
			insert(connection, 1);
			connection.commit();
			insert(connection, 2);
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit)
				.withMessageContaining("refused token 33");
		});
		assertThat(outer.refusal()).isNotNull();
		assertThat(inner.refusal()).isNull();
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void eachOfTheRunsThatWereOvertakenIsToldSo() throws SQLException {
		FakeRun outer = this.database.begin("billing", 33);
		FakeRun inner = this.database.begin("mails", 7).inside(outer);
		this.database.inTransaction(inner, (connection) -> {
			insert(connection, 1);
			this.database.begin("billing", 34);
			this.database.begin("mails", 8);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
		});
		assertThat(outer.refusal()).hasMessageContaining("refused token 33");
		assertThat(inner.refusal()).hasMessageContaining("refused token 7");
	}

	@Test
	void aTransactionBelongsToEveryRunThatWorkedOnIt() throws SQLException {
		FakeRun first = this.database.begin("billing", 33);
		FakeRun second = this.database.begin("mails", 7);
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			try (var scope = CurrentJobRun.open(first)) {
				insert(connection, 1);
			}
			this.database.begin("billing", 34);
			try (var scope = CurrentJobRun.open(second)) {
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
			}
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aRunThatIsOverIsRefusedWithoutAskingTheDatabase() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			run.close("lost by the keeper");
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(connection::commit)
				.withMessage("lost by the keeper");
			// Reads go on
			execute(connection, "select count(*) from invoice");
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aRunThatCarriesNoGrantIsRefused() throws SQLException {
		JobRun foreign = mock(JobRun.class);
		try (var scope = CurrentJobRun.open(foreign); Connection connection = this.database.guarded().getConnection()) {
			assertThatIllegalStateException().isThrownBy(() -> insert(connection, 1))
				.withMessageContaining("carries no grant");
			connection.setAutoCommit(false);
			assertThatIllegalStateException().isThrownBy(connection::commit);
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void closingTheConnectionRollsBack() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> insert(connection, 1));
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aTransactionThatWroteNothingTakesNoLockAndNoIdAndWritesNoLog() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.in(run, (connection) -> execute(connection, "select 1"));
		// Something else may happen to write to the log meanwhile, but not each time
		await().untilAsserted(() -> {
			String before = log();
			for (boolean readOnly : new boolean[] { false, true }) {
				this.database.in(run, (connection) -> read(connection, readOnly));
			}
			assertThat(log()).isEqualTo(before);
		});
		assertThat(this.database.outside().sql("select xmax::text from singleton_job").query(String.class).single())
			.isEqualTo("0");
	}

	private static void read(Connection connection, boolean readOnly) throws SQLException {
		connection.setReadOnly(readOnly);
		connection.setAutoCommit(false);
		execute(connection, "select * from invoice");
		connection.commit();
		connection.setAutoCommit(true);
		connection.setReadOnly(false);
	}

	private String log() {
		return this.database.outside()
			.sql("select pg_current_wal_insert_lsn() || ' ' || pg_snapshot_xmax(pg_current_snapshot())")
			.query(String.class)
			.single();
	}

	@Test
	void whatTheCommitItselfWritesIsWrittenForTheHolder() throws SQLException {
		this.database.createCharge();
		this.database.createForeignInvoice();
		FakeRun run = this.database.begin("billing", 33);
		try (Connection listener = this.database.plain().getConnection()) {
			execute(listener, "listen charged");
			for (String sql : new String[] { "declare charging cursor with hold for select charge(1)",
					"insert into foreign_invoice values (2)", "select pg_notify('charged', '3')" }) {
				this.database.inTransaction(run, (connection) -> {
					execute(connection, sql);
					connection.commit();
				});
			}
			assertThat(GuardedDatabase.nextNotifications(listener)).containsExactly("3");
		}
		assertThat(this.database.invoices()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "read committed", "repeatable read", "serializable" })
	void aTransactionThatIsDeclaredReadOnlyByTextCommits(String isolation) throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			execute(connection, "set transaction isolation level " + isolation + ", read only");
			execute(connection, "select * from invoice");
			execute(connection, "declare kept cursor with hold for select 7");
			connection.commit();
			try (var statement = connection.createStatement(); var kept = statement.executeQuery("fetch kept")) {
				assertThat(kept.next()).isTrue();
			}
		});
		assertThat(run.refusal()).isNull();
	}

	@Test
	void aTransactionThatIsDeclaredReadOnlyAfterItWroteCommits() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			execute(connection, "set transaction read only");
			connection.commit();
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "repeatable read", "serializable" })
	void withASnapshotSuchATransactionIsRefused(String isolation) throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			execute(connection, "set transaction isolation level " + isolation);
			insert(connection, 1);
			execute(connection, "set transaction read only");
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
				.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("25006"));
		});
		assertThat(this.database.invoices()).isZero();
		assertThat(run.refusal()).isNull();
	}

	@Test
	void aReadOnlyFlagThatTheDriverIgnoresLosesNothing() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		try (var ignoring = new GuardedDatabase(this.database.url() + "?readOnlyMode=ignore", (config) -> {
		}, FencingSettings.defaults())) {
			ignoring.in(run, (connection) -> {
				connection.setReadOnly(true);
				connection.setAutoCommit(false);
				insert(connection, 1);
				connection.commit();
				execute(connection, "select 1");
				connection.commit();
			});
		}
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(ints = { Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE })
	void aSnapshotThatIsOlderThanTheRunIsExplained(int isolation) throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setTransactionIsolation(isolation);
			connection.setAutoCommit(false);
			execute(connection, "select count(*) from invoice");
			FakeRun run = this.database.begin("billing", 33);
			try (var scope = CurrentJobRun.open(run)) {
				insert(connection, 1);
				assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
					.withMessageContaining("was begun before the run")
					.withMessageContaining("nothing of it was written")
					.withMessageContaining("Begin the transaction inside the run")
					.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("40001"));
				insert(connection, 2);
				connection.commit();
			}
			assertThat(run.refusal()).isNull();
		}
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void aDivisionByZeroOfTheApplicationIsNotMistaken() throws SQLException {
		this.database.outside().sql("""
				create function divide() returns trigger language plpgsql as 'begin perform 1 / 0; return null; end';
				create constraint trigger divide after insert on invoice deferrable initially deferred
				for each row execute function divide()""").update();
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
				.withMessageContaining("division by zero")
				.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("22012"));
		});
		assertThat(run.refusal()).isNull();
		assertThat(this.database.invoices()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "read committed", "repeatable read", "serializable" })
	void theHolderCommitsWhateverItDidToTheSearchPath(String isolation) throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.outside().sql("create schema other").update();
		this.database.inTransaction(run, (connection) -> {
			execute(connection, "set transaction isolation level " + isolation);
			insert(connection, 1);
			execute(connection, "set local search_path = other");
			connection.commit();
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "read committed", "repeatable read", "serializable" })
	void theFenceIsFoundWhateverTheTransactionDidToTheNames(String isolation) throws SQLException {
		FakeRun stale = this.database.begin("billing", 33);
		this.database.outside()
			.sql("create schema other; create table other.singleton_job (like singleton_job)")
			.update();
		this.database.inTransaction(stale, (connection) -> {
			execute(connection, "set transaction isolation level " + isolation);
			insert(connection, 1);
			execute(connection, "create temp table singleton_job (like public.singleton_job)");
			execute(connection, "insert into pg_temp.singleton_job values ('shop', 'billing', 33, 'owner-33')");
			execute(connection, "set local search_path = other");
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aFailedStatementMakesTheCommitFailAndNothingElse() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		this.database.inTransaction(run, (connection) -> {
			insert(connection, 1);
			swallow(() -> execute(connection, "select nonsense"));
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			insert(connection, 2);
			connection.commit();
		});
		assertThat(run.refusal()).isNull();
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void outsideOfARunNothingIsFenced() throws SQLException {
		this.database.begin("billing", 33);
		try (Connection connection = this.database.guarded().getConnection()) {
			insert(connection, 1);
			execute(connection, "begin");
			insert(connection, 2);
			execute(connection, "commit");
			connection.setAutoCommit(false);
			insert(connection, 3);
			connection.commit();
			insert(connection, 4);
			connection.setAutoCommit(true);
		}
		assertThat(this.database.invoices()).isEqualTo(4);
	}

	private static void swallow(SqlCall call) {
		try {
			call.run();
		}
		catch (SQLException | RuntimeException ex) {
			assertThat(ex).hasMessageNotContaining("NullPointer");
		}
	}

	@FunctionalInterface
	private interface SqlCall {

		void run() throws SQLException;

	}

}
