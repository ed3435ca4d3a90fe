package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

import io.github.singletonjob.CurrentJobRun;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
 * Which transactions a thread has begun, so that no run may begin on it.
 */
@Timeout(60)
class OpenTransactionTests {

	private final GuardedDatabase database = new GuardedDatabase((config) -> config.setMaximumPoolSize(3));

	private final GuardedDatabase withoutAutocommit = new GuardedDatabase(this.database.url(),
			(config) -> config.setAutoCommit(false), FencingSettings.defaults());

	@AfterEach
	void close() {
		this.database.close();
		this.withoutAutocommit.close();
		assertThat(FencedDataSources.isTransactionOpenOnThisThread()).isFalse();
	}

	@Test
	void aTransactionIsOpenFromSwitchingAutocommitOffToItsEnd() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			assertOpen(false);
			insert(connection, 1);
			assertOpen(false);
			connection.setAutoCommit(false);
			assertOpen(true);
			execute(connection, "select 1");
			assertOpen(true);
			connection.commit();
			assertOpen(false);
			insert(connection, 2);
			assertOpen(true);
			connection.rollback();
			assertOpen(false);
			insert(connection, 3);
			connection.setAutoCommit(true);
			assertOpen(false);
			connection.setAutoCommit(false);
			insert(connection, 4);
			assertOpen(true);
		}
		assertOpen(false);
	}

	@Test
	void aConnectionOfAPoolWithoutAutocommitHasNoOpenTransactionUntilItHasWritten() throws SQLException {
		try (Connection connection = this.withoutAutocommit.guarded().getConnection()) {
			assertOpen(false);
			execute(connection, "select 1");
			assertOpen(false);
			insert(connection, 1);
			assertOpen(true);
			connection.commit();
			assertOpen(false);
			insert(connection, 2);
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> execute(connection, "select 1 / 0"));
			// It can only be rolled back
			assertOpen(false);
			connection.rollback();
		}
	}

	@Test
	void eachOfSeveralConnectionsCounts() throws SQLException {
		try (Connection first = this.database.guarded().getConnection();
				Connection second = this.database.guarded().getConnection()) {
			first.setAutoCommit(false);
			insert(first, 1);
			second.setAutoCommit(false);
			insert(second, 2);
			second.commit();
			assertOpen(true);
			first.rollback();
			assertOpen(false);
		}
	}

	@Test
	void aTransactionOfARunCountsForARunInsideOfIt() throws SQLException {
		FakeRun run = this.database.begin("billing", 33);
		try (var scope = CurrentJobRun.open(run); Connection connection = this.database.guarded().getConnection()) {
			insert(connection, 1);
			assertOpen(false);
			connection.setAutoCommit(false);
			insert(connection, 2);
			assertOpen(true);
			connection.commit();
			assertOpen(false);
		}
	}

	@Test
	void theTransactionOfAnEntityManagerCounts() {
		try (EntityManagerFactory factory = Jpa.entityManagers(this.database.guarded(),
				SpringTransactionTests.Invoice.class); EntityManager entityManager = factory.createEntityManager()) {
			entityManager.getTransaction().begin();
			assertOpen(true);
			entityManager.persist(new SpringTransactionTests.Invoice(1L));
			entityManager.flush();
			assertOpen(true);
			entityManager.getTransaction().commit();
			assertOpen(false);
		}
	}

	@Test
	void aConnectionBelongsToTheThreadThatUsedItLast() throws SQLException {
		try (Connection connection = this.database.guarded().getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, 1);
			assertThat(onAnotherThread(() -> {
				assertOpen(false);
				execute(connection, "select 1");
				assertOpen(true);
			})).succeedsWithin(GuardedDatabase.TIMEOUT);
			assertOpen(false);
			execute(connection, "select 1");
			assertOpen(true);
			assertThat(onAnotherThread(connection::rollback)).succeedsWithin(GuardedDatabase.TIMEOUT);
			assertOpen(false);
		}
	}

	private static CompletableFuture<Void> onAnotherThread(SqlCall call) {
		return CompletableFuture.runAsync(() -> {
			try {
				call.run();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}, (task) -> new Thread(task).start());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aTransactionThatSpringHasSuspendedDoesNotCount(boolean autoCommit) {
		GuardedDatabase used = autoCommit ? this.database : this.withoutAutocommit;
		TransactionTemplate outer = new TransactionTemplate(new JdbcTransactionManager(used.guarded()));
		TransactionTemplate suspending = new TransactionTemplate(new JdbcTransactionManager(used.guarded()));
		suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		JdbcClient client = JdbcClient.create(used.guarded());
		outer.executeWithoutResult((status) -> suspending.executeWithoutResult((none) -> assertOpen(false)));
		outer.executeWithoutResult((status) -> {
			client.sql("insert into invoice values (1)").update();
			suspending.executeWithoutResult((none) -> assertOpen(false));
		});
	}

	@Test
	void aTransactionBegunWhereSpringHasNoneCounts() {
		TransactionTemplate none = new TransactionTemplate(new JdbcTransactionManager(this.database.guarded()));
		none.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		none.executeWithoutResult((status) -> {
			try (Connection connection = this.database.guarded().getConnection()) {
				connection.setAutoCommit(false);
				insert(connection, 1);
				assertOpen(true);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			assertOpen(false);
		});
	}

	@Test
	void aConnectionThatWasLeakedAndCollectedDoesNotCount() throws SQLException {
		leak();
		await().until(() -> {
			System.gc();
			return !FencedDataSources.isTransactionOpenOnThisThread();
		});
	}

	private void leak() throws SQLException {
		Connection connection = FencedDataSources.guard(this.database.plain()).getConnection();
		connection.setAutoCommit(false);
		insert(connection, 1);
		assertOpen(true);
	}

	private static void assertOpen(boolean open) {
		assertThat(FencedDataSources.isTransactionOpenOnThisThread()).isEqualTo(open);
	}

	@FunctionalInterface
	private interface SqlCall {

		void run() throws SQLException;

	}

}
