package io.github.singletonjob.fencing;

import java.io.IOException;
import java.io.OutputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.servers.JvmProcess;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.PGCopyOutputStream;
import org.postgresql.core.BaseConnection;
import org.postgresql.fastpath.FastpathArg;
import org.postgresql.jdbc.PgConnection;
import org.postgresql.largeobject.LargeObject;
import org.postgresql.largeobject.LargeObjectManager;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Each way by which a stale holder could write past a fence that looks at
 * {@code commit()} alone.
 */
@Timeout(120)
class WaysPastACommitTests {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private final GuardedDatabase database = new GuardedDatabase();

	private final FakeRun stale = this.database.begin("billing", 33);

	WaysPastACommitTests() {
		this.database.begin("billing", 34);
	}

	@AfterEach
	void nothingWasWritten() {
		this.database.close();
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void switchingAutocommitOnInATransaction() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			insert(connection, 1);
			assertRefused(() -> connection.setAutoCommit(true));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "commit", "/* x */ commit", "-- x\n  Commit Work", "/* a /* b */ */ END", ";; commit",
			"select 1; commit", "select ';'; commit", "commit and chain", "prepare transaction 'x'", "{oj commit}",
			"{ojcommit}", "{fn xcommit}", "select $a$ ' $a$; commit", "select E'\\''; commit", "select 'a\\'; commit",
			"rollback; insert into invoice values (2)", "abort; insert into invoice values (2)" })
	void endingTheTransactionByTheTextOfAStatement(String sql) throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			insert(connection, 1);
			assertTextRefused(() -> execute(connection, sql));
			assertTextRefused(() -> prepareAndExecute(connection, sql));
			connection.rollback();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "commit", "end", "rollback", "prepare transaction 'x'" })
	void endingTheTransactionInABatch(String sql) throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.addBatch("insert into invoice values (1)");
				statement.addBatch(sql);
				statement.addBatch("insert into invoice values (2)");
				assertTextRefused(statement::executeBatch);
			}
		});
	}

	@Test
	void aCommitThatWasPreparedBeforeTheRun() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection();
				Statement batch = connection.createStatement();
				PreparedStatement commit = connection.prepareStatement("commit")) {
			connection.setAutoCommit(false);
			batch.addBatch("commit");
			try (var scope = CurrentJobRun.open(this.stale)) {
				insert(connection, 1);
				assertTextRefused(batch::executeBatch);
				assertTextRefused(commit::execute);
			}
		}
	}

	@Test
	void aTransactionBegunByTheTextOfAStatement() throws SQLException {
		this.database.in(this.stale, (connection) -> {
			assertTextRefused(() -> execute(connection, "begin"));
			assertTextRefused(() -> execute(connection, "start transaction; insert into invoice values (1)"));
			assertTextRefused(() -> execute(connection, "insert into invoice values (1); commit; select 1"));
		});
	}

	@Test
	void aTransactionBegunByTextBeforeTheRun() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			execute(connection, "begin");
			insert(connection, 1);
			try (var scope = CurrentJobRun.open(this.stale)) {
				assertRefused(() -> execute(connection, "select 1"));
				assertTextRefused(() -> execute(connection, "commit"));
			}
		}
	}

	@Test
	void anAutocommitStatement() throws SQLException {
		this.database.in(this.stale, (connection) -> assertRefused(() -> insert(connection, 1)));
	}

	@Test
	void anAutocommitBatch() throws SQLException {
		this.database.in(this.stale, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.addBatch("insert into invoice values (1)");
				statement.addBatch("insert into invoice values (2)");
				assertRefused(statement::executeBatch);
			}
		});
	}

	@Test
	void aCursorThatTheCommitFills() throws SQLException {
		this.database.createCharge();
		this.database.inTransaction(this.stale, (connection) -> {
			execute(connection, "declare charging cursor with hold for select charge(1)");
			assertRefused(connection::commit);
		});
	}

	@Test
	void aNotificationAndNothingElse() throws SQLException {
		try (Connection listener = this.database.plain().getConnection()) {
			execute(listener, "listen charged");
			this.database.inTransaction(this.stale, (connection) -> {
				execute(connection, "select pg_notify('charged', 'stale')");
				assertRefused(connection::commit);
			});
			this.database.outside().sql("notify charged, 'the end'").update();
			assertThat(GuardedDatabase.nextNotifications(listener)).containsExactly("the end");
		}
	}

	@Test
	void aTableOfAForeignServerAndNothingElse() throws SQLException {
		this.database.createForeignInvoice();
		this.database.inTransaction(this.stale, (connection) -> {
			execute(connection, "insert into foreign_invoice values (1)");
			assertRefused(connection::commit);
		});
	}

	@Test
	void aTemporaryTableInAReadOnlyTransaction() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			execute(connection, "create temp table note (text text)");
			try (var scope = CurrentJobRun.open(this.stale)) {
				connection.setReadOnly(true);
				connection.setAutoCommit(false);
				execute(connection, "insert into note values ('kept')");
				assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit)
					.withMessageContaining("has written nevertheless");
			}
		}
	}

	@Test
	void aReadOnlyFlagThatTheDriverIgnores() throws SQLException {
		try (var ignoring = new GuardedDatabase(this.database.url() + "?readOnlyMode=ignore", (config) -> {
		}, FencingSettings.defaults())) {
			ignoring.in(this.stale, (connection) -> {
				connection.setReadOnly(true);
				connection.setAutoCommit(false);
				insert(connection, 1);
				assertRefused(connection::commit);
			});
		}
	}

	@Test
	void declaringTheTransactionReadOnlyAfterItWrote() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			insert(connection, 1);
			execute(connection, "set transaction read only");
			assertRefused(connection::commit);
		});
	}

	@Test
	void copyingThroughTheDriverWithoutATransaction() throws SQLException {
		this.database.in(this.stale, (connection) -> {
			assertThat(connection.isWrapperFor(PGConnection.class)).isFalse();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> connection.unwrap(PGConnection.class))
				.withMessageContaining("Begin a transaction first");
		});
	}

	@Test
	void copyingThroughTheDriverInATransaction() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			assertThat(connection.isWrapperFor(PGConnection.class)).isTrue();
			PGConnection driver = connection.unwrap(PGConnection.class);
			assertThat(driver).isNotInstanceOf(Connection.class);
			assertThat(driver.getBackendPID()).isPositive();
			copy(driver.getCopyAPI());
			assertRefused(connection::commit);
		});
	}

	@Test
	void copyingAsTheOnlyActOfATransaction() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			CopyManager copyManager = connection.unwrap(PGConnection.class).getCopyAPI();
			connection.rollback();
			copy(copyManager);
			assertRefused(() -> connection.setAutoCommit(true));
		});
	}

	@Test
	void keepingTheDriversObjectAfterTheTransaction() throws SQLException {
		this.database.inTransaction(this.database.begin("mails", 1), (connection) -> {
			PGConnection driver = connection.unwrap(PGConnection.class);
			connection.setAutoCommit(true);
			assertThatExceptionOfType(SQLException.class).isThrownBy(driver::getCopyAPI)
				.withMessageContaining("Begin a transaction first");
		});
	}

	@Test
	void copyingByAManagerKeptAfterItsTransaction() throws SQLException {
		assertRefusedAfterItsTransaction(PGConnection::getCopyAPI, WaysPastACommitTests::copy,
				(copyManager) -> copyManager.copyIn("copy invoice (id) from stdin"));
	}

	@Test
	void copyingByAStreamKeptAfterItsTransaction() throws SQLException {
		assertRefusedAfterItsTransaction((driver) -> driver, (driver) -> {
			try (OutputStream stream = new PGCopyOutputStream(driver, "copy invoice (id) from stdin")) {
				stream.write('1');
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
	}

	@Test
	void callingAFunctionByTheFastpathKeptAfterItsTransaction() throws SQLException {
		this.database.outside()
			.sql("create function pay() returns int language sql as 'insert into invoice values (1) returning 1'")
			.update();
		int pay = this.database.outside().sql("select 'pay'::regproc::oid::int").query(Integer.class).single();
		assertRefusedAfterItsTransaction(PGConnection::getFastpathAPI,
				(fastpath) -> fastpath.fastpath(pay, new FastpathArg[0]));
	}

	@Test
	void writingLargeObjectsByAManagerKeptAfterItsTransaction() throws SQLException {
		assertRefusedAfterItsTransaction(PGConnection::getLargeObjectAPI, LargeObjectManager::createLO,
				(manager) -> manager.delete(1L));
		assertThat(
				this.database.outside().sql("select count(*) from pg_largeobject_metadata").query(Long.class).single())
			.isZero();
	}

	@Test
	void writingALargeObjectInTheNextTransaction() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			LargeObjectManager manager = connection.unwrap(PGConnection.class).getLargeObjectAPI();
			connection.rollback();
			long id = manager.createLO();
			try (LargeObject object = manager.open(id)) {
				object.write(new byte[] { 1, 2, 3 });
				object.getOutputStream().write(4);
				assertThat(object.getLongOID()).isEqualTo(id);
				assertThat(object.tell64()).isEqualTo(3);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			assertRefused(connection::commit);
		});
		assertThat(
				this.database.outside().sql("select count(*) from pg_largeobject_metadata").query(Long.class).single())
			.isZero();
	}

	@Test
	void aFrozenProcessThatKeepsTheDriversObjects() {
		this.database.outside()
			.sql("create function pay() returns int language sql as 'insert into invoice values (2) returning 1'")
			.update();
		this.database.outside().sql("create table resumed (id int)").update();
		try (JvmProcess holder = JvmProcess.of(KeptObjectsProcess.class, this.database.url()).echo("holder").start()) {
			holder.awaitLine("SAYS KEPT", WAIT);
			holder.freeze();
			this.database.begin("mails", 2);
			this.database.outside().sql("insert into resumed values (1)").update();
			holder.resume();
			holder.awaitLine("SAYS END", WAIT);
			assertThat(holder.lines()).filteredOn((line) -> line.startsWith("SAYS REFUSED")).hasSize(3);
			assertThat(holder.lines()).noneMatch((line) -> line.startsWith("SAYS WROTE"));
		}
	}

	@Test
	void anObjectOfTheDriverThatCannotBeGuardedIsRefused() throws SQLException {
		Connection session = mock(Connection.class);
		when(session.unwrap(Gateway.class)).thenReturn(new Gateway() {
		});
		when(session.getAutoCommit()).thenReturn(true);
		DataSource guarded = FencedDataSources.guard(new SingleConnectionDataSource(session, true));
		try (var scope = CurrentJobRun.open(this.stale); Connection connection = guarded.getConnection()) {
			connection.setAutoCommit(false);
			when(session.getAutoCommit()).thenReturn(false);
			Gateway gateway = connection.unwrap(Gateway.class);
			assertThatExceptionOfType(SQLException.class).isThrownBy(gateway::sealed)
				.withMessageContaining("cannot be guarded (the class or a method is final)")
				.withMessageContaining("Write through JDBC");
			assertThatIllegalStateException().isThrownBy(gateway::halfSealed)
				.withMessageContaining("cannot be guarded (the class or a method is final)");
			assertThat(gateway.level()).isEqualTo(Level.HIGH);
			assertThat(gateway.values()).containsEntry("a", 1);
			assertThat(gateway.self()).isSameAs(gateway);
		}
	}

	private interface Gateway {

		default Sealed sealed() throws SQLException {
			return new Sealed();
		}

		default HalfSealed halfSealed() {
			return new HalfSealed();
		}

		default Level level() {
			return Level.HIGH;
		}

		default Map<String, Integer> values() {
			return Map.of("a", 1);
		}

		default Gateway self() {
			return this;
		}

	}

	private static final class Sealed {

	}

	static class HalfSealed {

		public final void write() {
		}

	}

	private enum Level {

		HIGH

	}

	@SafeVarargs
	private <T> void assertRefusedAfterItsTransaction(DriverCall<PGConnection, T> taking, DriverUse<T>... uses)
			throws SQLException {
		FakeRun overtaken = this.database.begin("mails", 1);
		this.database.inTransaction(overtaken, (connection) -> {
			T taken = taking.call(connection.unwrap(PGConnection.class));
			connection.commit();
			connection.setAutoCommit(true);
			this.database.begin("mails", 2);
			for (DriverUse<T> use : uses) {
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> use.accept(taken))
					.withMessageContaining("Begin a transaction first");
			}
			connection.setAutoCommit(false);
		});
	}

	@FunctionalInterface
	private interface DriverCall<A, B> {

		B call(A object) throws SQLException;

	}

	@FunctionalInterface
	private interface DriverUse<A> {

		void accept(A object) throws SQLException;

	}

	@Test
	void aCopyThatIsUnderWayWhenAnotherRunBegins() throws SQLException {
		this.database.inTransaction(this.database.begin("mails", 1), (connection) -> {
			CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI().copyIn("copy invoice (id) from stdin");
			try (var scope = CurrentJobRun.open(this.stale.ttl(Duration.ofSeconds(3)))) {
				copy.writeToCopy(new byte[] { '1' }, 0, 1);
				assertThat(copy.endCopy()).isEqualTo(1);
			}
			assertRefused(connection::commit);
		});
	}

	@Test
	void writingThroughABlobInTheNextTransaction() throws SQLException {
		long id = this.database.outside().sql("select lo_from_bytea(0, 'abc')").query(Long.class).single();
		this.database.inTransaction(this.stale, (connection) -> {
			Blob blob;
			try (Statement statement = connection.createStatement();
					ResultSet result = statement.executeQuery("select " + id + "::oid")) {
				result.next();
				blob = result.getBlob(1);
			}
			connection.rollback();
			blob.setBytes(1, new byte[] { 'x' });
			assertRefused(() -> connection.setAutoCommit(true));
		});
		assertThat(this.database.outside().sql("select lo_get(?)").param(id).query(byte[].class).single())
			.isEqualTo(new byte[] { 'a', 'b', 'c' });
	}

	private static void copy(CopyManager copyManager) throws SQLException {
		try {
			copyManager.copyIn("copy invoice (id) from stdin", new StringReader("1\n"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void unwrappingTheConnection() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			insert(connection, 1);
			assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
			assertThat(connection.isWrapperFor(Connection.class)).isTrue();
			for (Class<?> type : new Class<?>[] { PgConnection.class, BaseConnection.class }) {
				assertThat(connection.isWrapperFor(type)).isFalse();
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> connection.unwrap(type))
					.withMessageContaining("refused inside a job's run");
			}
		});
	}

	@Test
	void unwrappingAStatement() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				assertThat(statement.unwrap(Statement.class)).isSameAs(statement);
				assertThat(statement.unwrap(PGStatement.class)).isNotInstanceOf(Statement.class);
			}
		});
	}

	@Test
	void theConnectionThatOtherObjectsHandOut() throws SQLException {
		this.database.inTransaction(this.stale, (connection) -> {
			DatabaseMetaData metaData = connection.getMetaData();
			assertThat(metaData.getConnection()).isSameAs(connection);
			try (Statement statement = connection.createStatement();
					ResultSet result = statement.executeQuery("select 1, array[1]");
					ResultSet tables = metaData.getTables(null, null, "invoice", null)) {
				assertThat(statement.getConnection()).isSameAs(connection);
				assertThat(result.getStatement()).isSameAs(statement);
				assertThat(tables.getStatement().getConnection()).isSameAs(connection);
				result.next();
				Statement ofArray = result.getArray(2).getResultSet().getStatement();
				assertThat(ofArray.getConnection()).isSameAs(connection);
				assertThat(result.unwrap(ResultSet.class)).isSameAs(result);
			}
			try (var prepared = connection.prepareStatement("select 1");
					var call = connection.prepareCall("{?= call now()}")) {
				assertThat(prepared.getConnection()).isSameAs(connection);
				assertThat(prepared.executeQuery().getStatement()).isSameAs(prepared);
				assertThat(call.getConnection()).isSameAs(connection);
			}
		});
	}

	@Test
	void changingARowThroughAResult() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection();
				Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE,
						ResultSet.CONCUR_UPDATABLE);
				ResultSet result = statement.executeQuery("select id, token from invoice");
				var scope = CurrentJobRun.open(this.stale)) {
			result.moveToInsertRow();
			result.updateLong("id", 1);
			assertRefused(result::insertRow);
		}
	}

	@Test
	void closingTheConnectionOfAPoolThatCommits() throws SQLException {
		CommittingPool pool = new CommittingPool(this.database.plain(), true);
		try (var scope = CurrentJobRun.open(this.stale)) {
			Connection connection = FencedDataSources.guard(pool).getConnection();
			connection.setAutoCommit(false);
			insert(connection, 1);
			connection.close();
		}
		assertThat(pool.session().isClosed()).isFalse();
	}

	@Test
	void aRollbackThatFails() throws SQLException {
		CommittingPool pool = new CommittingPool(this.database.plain(), false);
		try (var scope = CurrentJobRun.open(this.stale)) {
			Connection connection = FencedDataSources.guard(pool).getConnection();
			connection.setAutoCommit(false);
			insert(connection, 1);
			this.stale.close("lost");
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(connection::commit)
				.withMessage("lost")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
			connection.close();
		}
		assertThat(pool.session().isClosed()).isTrue();
	}

	private static void prepareAndExecute(Connection connection, String sql) throws SQLException {
		try (var statement = connection.prepareStatement(sql)) {
			statement.execute();
		}
	}

	private static void assertRefused(ThrowingCallable call) {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(call);
	}

	private static void assertTextRefused(ThrowingCallable call) {
		assertThatExceptionOfType(SQLException.class).isThrownBy(call)
			.withMessageContaining("is refused inside a job's run")
			.withMessageContaining("@Transactional");
	}

}
