package io.github.singletonjob.fencing;

import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Statements that are made inside a run and outside of a transaction.
 */
@Timeout(60)
class AutocommitTests {

	private final GuardedDatabase database = new GuardedDatabase();

	private final FakeRun run = this.database.begin("billing", 33);

	@AfterEach
	void close() {
		this.database.close();
	}

	@Test
	void aStatementIsWrittenByTheHolder() throws SQLException {
		this.database.in(this.run, (connection) -> {
			insert(connection, 1);
			assertThat(connection.getAutoCommit()).isTrue();
			assertThat(this.database.invoices()).isEqualTo(1);
		});
	}

	@Test
	void aStatementOfAStaleHolderIsNotWritten() throws SQLException {
		this.database.begin("billing", 34);
		this.database.in(this.run, (connection) -> {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> insert(connection, 1));
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> insert(connection, 1));
			assertThat(connection.getAutoCommit()).isTrue();
		});
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void springsJdbcClientIsFencedWithoutATransaction() {
		JdbcClient client = JdbcClient.create(this.database.guarded());
		try (var scope = CurrentJobRun.open(this.run)) {
			client.sql("insert into invoice values (?)").param(1).update();
			assertThatExceptionOfType(DuplicateKeyException.class)
				.isThrownBy(() -> client.sql("insert into invoice values (?)").param(1).update());
			this.database.begin("billing", 34);
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> client.sql("insert into invoice values (?)").param(2).update());
		}
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void resultsCanBeReadAfterTheirStatementWasCommitted() throws SQLException {
		this.database.in(this.run, (connection) -> {
			try (Statement statement = connection.createStatement()) {
				statement.setFetchSize(2);
				ResultSet result = statement.executeQuery("select * from generate_series(1, 10)");
				int count = 0;
				while (result.next()) {
					count++;
				}
				assertThat(count).isEqualTo(10);
				assertThat(statement.getFetchSize()).isEqualTo(2);
			}
		});
	}

	@Test
	void generatedKeysCanBeReadAfterTheirStatementWasCommitted() throws SQLException {
		this.database.in(this.run, (connection) -> {
			try (var statement = connection.prepareStatement("insert into invoice values (7)",
					Statement.RETURN_GENERATED_KEYS)) {
				statement.executeUpdate();
				ResultSet keys = statement.getGeneratedKeys();
				assertThat(keys.next()).isTrue();
				assertThat(keys.getLong("id")).isEqualTo(7);
				assertThat(keys.getStatement()).isSameAs(statement);
			}
		});
	}

	@Test
	void aBatchIsWrittenAsAWhole() throws SQLException {
		this.database.in(this.run, (connection) -> {
			try (var statement = connection.prepareStatement("insert into invoice values (?)")) {
				for (long id : new long[] { 1, 2, 2 }) {
					statement.setLong(1, id);
					statement.addBatch();
				}
				assertThatExceptionOfType(BatchUpdateException.class).isThrownBy(statement::executeBatch);
			}
			assertThat(this.database.invoices()).isZero();
			insert(connection, 3);
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void aRowChangedThroughAResultIsWrittenByTheHolder() throws SQLException {
		this.database.in(this.run, (connection) -> {
			insert(connection, 1);
			try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE,
					ResultSet.CONCUR_UPDATABLE); ResultSet result = statement.executeQuery("select * from invoice")) {
				result.next();
				result.updateLong("token", 5);
				result.updateRow();
			}
			assertThat(connection.getAutoCommit()).isTrue();
		});
		assertThat(this.database.outside().sql("select token from invoice").query(Long.class).single()).isEqualTo(5);
	}

	@Test
	void whatCannotRunInATransactionSaysWhatToConfigure() throws SQLException {
		this.database.in(this.run, (connection) -> {
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> execute(connection, "vacuum invoice"))
				.withMessageContaining("VACUUM cannot run inside a transaction block")
				.withMessageContaining("singleton-job.jobs.billing.autocommit: allow")
				.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("25001"));
			insert(connection, 1);
		});
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void aProcedureThatCommitsSaysWhatToConfigure() throws SQLException {
		this.database.outside()
			.sql("create procedure pay() language plpgsql as 'begin insert into invoice values (1); commit; end'")
			.update();
		this.database.in(this.run,
				(connection) -> assertThatExceptionOfType(SQLException.class)
					.isThrownBy(() -> execute(connection, "call pay()"))
					.withMessageContaining("singleton-job.jobs.billing.autocommit: allow"));
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void backslashesAndRoutinesAreReadAsTheSessionReadsThem() throws SQLException {
		this.database.in(this.run, (connection) -> {
			execute(connection, "insert into invoice values (length('C:\\temp\\') + length('; end'))");
			execute(connection, "create function pay() returns bigint language sql begin atomic"
					+ " insert into invoice values (1); select case when true then count(*) end from invoice; end");
			execute(connection, "select pay()");
			connection.setAutoCommit(false);
			execute(connection, "set local standard_conforming_strings = off");
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> execute(connection, "select 'C:\\temp\\') + length('; end"))
				.withMessageContaining("The statement 'END' is refused");
			connection.rollback();
			execute(connection, "insert into invoice values (length('C:\\temp\\') + length('; end') + 1)");
			connection.commit();
		});
		assertThat(this.database.invoices()).isEqualTo(3);
	}

	@Test
	void twoThreadsThatShareAConnectionCommitNothingUnfenced() throws Exception {
		FakeRun stale = this.database.begin("mails", 1);
		CompletableFuture<Thread> other = new CompletableFuture<>();
		CountDownLatch written = new CountDownLatch(1);
		CommittingPool pool = new CommittingPool(this.database.plain(), true);
		try (var scope = CurrentJobRun.open(stale)) {
			Connection connection = FencedDataSources.guard(pool).getConnection();
			// Between the commit of one statement and the next one's autocommit
			pool.afterCommit(() -> {
				this.database.begin("mails", 2);
				Thread thread = new Thread(() -> {
					try (var inner = CurrentJobRun.open(stale)) {
						insert(connection, 1);
						written.countDown();
					}
					catch (SQLException | RuntimeException ex) {
						written.countDown();
					}
				});
				thread.start();
				other.complete(thread);
				await().until(() -> written.getCount() == 0 || thread.getState() == Thread.State.WAITING);
			});
			execute(connection, "select 1");
			other.get().join();
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void aJobThatIsAllowedToVacuums() throws SQLException {
		this.run.allowAutocommit();
		this.database.in(this.run, (connection) -> {
			execute(connection, "vacuum invoice");
			this.run.close("lost");
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> execute(connection, "vacuum invoice"));
		});
	}

	@Test
	void aJobThatIsAllowedToIsNotInsideOneThatIsNot() throws SQLException {
		FakeRun inner = this.database.begin("sweep", 1).allowAutocommit().inside(this.run);
		this.database.in(inner,
				(connection) -> assertThatExceptionOfType(SQLException.class)
					.isThrownBy(() -> execute(connection, "vacuum invoice"))
					.withMessageContaining("billing"));
	}

	@Test
	void aLostConnectionIsNotLeftInATransaction() throws SQLException {
		this.database.in(this.run, (connection) -> {
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> execute(connection, "select pg_terminate_backend(pg_backend_pid())"));
			assertThat(connection.isClosed() || connection.getAutoCommit()).isTrue();
		});
		this.database.in(this.run, (connection) -> insert(connection, 1));
		assertThat(this.database.invoices()).isEqualTo(1);
	}

	@Test
	void savepointsAndOtherCallsAnswerAsTheDriverDoes() throws SQLException {
		this.database.in(this.run, (connection) -> {
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::setSavepoint);
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			assertThat(connection.isValid(1)).isTrue();
			assertThat(connection.equals(connection)).isTrue();
			assertThat(connection).hasSameHashCodeAs(connection);
			assertThat(connection.toString()).startsWith("guarded Hikari");
		});
		try (Connection connection = this.database.guarded().getConnection()) {
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
		}
	}

}
