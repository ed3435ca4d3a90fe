package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static io.github.singletonjob.fencing.GuardedDatabase.execute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Raising the fence.
 */
@Timeout(60)
class JdbcFenceTests {

	private final GuardedDatabase database = new GuardedDatabase();

	private final FakeRun run = new FakeRun("billing", 33);

	@AfterEach
	void close() {
		this.database.close();
	}

	@Test
	void theFenceGoesUp() {
		assertThat(this.database.raise(this.run)).isInstanceOf(Raised.class);
		assertThat(this.database.raise(new FakeRun("billing", 34))).isInstanceOf(Raised.class);
		assertThat(this.database.outside()
			.sql("select namespace || name || token || owner || holder from singleton_job where raised_at is not null")
			.query(String.class)
			.single()).isEqualTo("shopbilling34owner-34holder-34");
	}

	@Test
	void theFenceNeverGoesDown() {
		this.database.begin("billing", 34);
		assertThat(this.database.raise(this.run)).isEqualTo(new Refused(34));
		assertThat(token()).isEqualTo(34);
	}

	@Test
	void repeatingARaiseSucceeds() {
		this.database.raise(this.run);
		assertThat(this.database.raise(this.run)).isInstanceOf(Raised.class);
	}

	@Test
	void anEqualTokenOfAnotherGrantIsRefused() {
		this.database.raise(this.run);
		this.database.outside().sql("update singleton_job set owner = 'somebody'").update();
		assertThat(this.database.raise(this.run)).isEqualTo(new Refused(33));
	}

	@Test
	void otherJobsAreLeftAlone() {
		this.database.raise(this.run);
		assertThat(this.database.raise(new FakeRun("mails", 1))).isInstanceOf(Raised.class);
		assertThat(this.database.outside().sql("select count(*) from singleton_job").query(Long.class).single())
			.isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ", "TRANSACTION_SERIALIZABLE" })
	void everyKindOfPoolWillDo(String isolation) throws SQLException {
		try (HikariDataSource pool = this.database.pool((config) -> {
			config.setAutoCommit(false);
			config.setTransactionIsolation(isolation);
		})) {
			JdbcFence fence = new JdbcFence(FencedDataSources.guard(pool));
			assertThat(fence.raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT)).isInstanceOf(Raised.class);
			assertThat(fence.raise(new FakeRun("billing", 32).grant(), "a", GuardedDatabase.TIMEOUT))
				.isEqualTo(new Refused(33));
			assertThat(token()).isEqualTo(33);
			try (Connection connection = pool.getConnection();
					var statement = connection.createStatement();
					var result = statement.executeQuery("select current_setting('lock_timeout'),"
							+ " current_setting('statement_timeout'), current_setting('transaction_isolation')")) {
				result.next();
				assertThat(connection.getAutoCommit()).isFalse();
				assertThat(result.getString(1) + result.getString(2)).isEqualTo("00");
				assertThat("TRANSACTION_" + result.getString(3).replace(' ', '_')).isEqualToIgnoringCase(isolation);
			}
		}
	}

	@Test
	void itWaitsForATransactionThatIsBeingCommitted() throws Exception {
		this.database.raise(this.run);
		CompletableFuture<?> raise;
		try (Connection committing = this.database.plain().getConnection()) {
			committing.setAutoCommit(false);
			GuardedDatabase.check(committing, this.run.grant());
			raise = CompletableFuture.supplyAsync(() -> this.database.raise(new FakeRun("billing", 34)));
			assertThat(raise.copy().completeOnTimeout(null, 300, TimeUnit.MILLISECONDS).get()).isNull();
			assertThat(token()).isEqualTo(33);
		}
		assertThat(raise.get(10, TimeUnit.SECONDS)).isInstanceOf(Raised.class);
		assertThat(token()).isEqualTo(34);
	}

	@Test
	void itTriesAgainWithinItsTimeOut() throws Exception {
		this.database.raise(this.run);
		CompletableFuture<?> raise;
		try (Connection committing = this.database.plain().getConnection()) {
			committing.setAutoCommit(false);
			GuardedDatabase.check(committing, this.run.grant());
			raise = CompletableFuture.supplyAsync(() -> new JdbcFence(this.database.plain())
				.raise(new FakeRun("billing", 34).grant(), "b", Duration.ofSeconds(3)));
			// The first try has ended by then, with a third of the time
			await().pollDelay(Duration.ofMillis(1300)).until(() -> true);
		}
		assertThat(raise.get()).isInstanceOf(Raised.class);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aBlockedRaiseSaysWhoBlocks(boolean commit) throws SQLException {
		this.database.raise(this.run);
		this.database.begin("mails", 7);
		try (Connection blocker = this.database.plain().getConnection()) {
			blocker.setAutoCommit(false);
			execute(blocker, "set application_name = 'the blocker'");
			if (commit) {
				GuardedDatabase.check(blocker, this.run.grant());
			}
			else {
				execute(blocker, "select * from singleton_job for share");
			}
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> new JdbcFence(this.database.plain()).raise(new FakeRun("billing", 34).grant(), "b",
						Duration.ofMillis(600)))
				.withMessageContaining("billing: the fence could not be raised to token 34")
				.withMessageContaining("(idle in transaction, application 'the blocker'")
				.withMessageContaining("pg_terminate_backend");
		}
		assertThat(token()).isEqualTo(33);
	}

	@Test
	void aDatabaseThatDoesNotAnswerLeavesTheOutcomeUnknown() {
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> new JdbcFence(new DriverManagerDataSource("jdbc:postgresql://localhost:1/x"))
				.raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT));
	}

	@Test
	void aDatabaseThatFallsSilentEndsTheRaise() throws Exception {
		try (TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port())) {
			DataSource silent = new DelegatingDataSource(
					new DriverManagerDataSource(proxy.through(this.database.url()), PostgresServer.USERNAME, "any")) {

				@Override
				public Connection getConnection() throws SQLException {
					Connection connection = super.getConnection();
					proxy.hang();
					return connection;
				}

			};
			var raise = CompletableFuture
				.supplyAsync(() -> new JdbcFence(silent).raise(this.run.grant(), "a", Duration.ofMillis(500)));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> raise.get(30, TimeUnit.SECONDS))
				.withCauseInstanceOf(LeaseStoreException.class);
		}
	}

	@Test
	void theBoundOfRepliesIsRestored() throws SQLException {
		try (Connection connection = this.database.plain().getConnection()) {
			connection.setNetworkTimeout(Runnable::run, 12_345);
			DataSource dataSource = new SingleConnectionDataSource(connection, true);
			this.database.raise(new FakeRun("billing", 34));
			JdbcFence fence = new JdbcFence(dataSource);
			assertThat(fence.raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT)).isEqualTo(new Refused(34));
			assertThat(connection.getNetworkTimeout()).isEqualTo(12_345);
			this.database.outside().sql("drop table singleton_job").update();
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> fence.raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT));
			assertThat(connection.getNetworkTimeout()).isEqualTo(12_345);
		}
	}

	@Test
	void aRaiseThatFailsLeavesTheConnectionAsItWas() throws SQLException {
		this.database.outside().sql("drop table singleton_job").update();
		try (Connection connection = this.database.plain().getConnection()) {
			JdbcFence fence = new JdbcFence(new SingleConnectionDataSource(connection, true));
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> fence.raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT));
			assertThat(connection.getAutoCommit()).isTrue();
			execute(connection, "create table note (text text)");
			assertThat(this.database.outside().sql("select count(*) from note").query(Long.class).single()).isZero();
		}
	}

	@Test
	void aMissingTableIsNamed() {
		this.database.outside().sql("drop table singleton_job").update();
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(
					() -> new JdbcFence(this.database.plain()).raise(this.run.grant(), "a", GuardedDatabase.TIMEOUT))
			.withMessageContaining("schema-postgresql.sql");
	}

	private long token() {
		return this.database.outside()
			.sql("select token from singleton_job where name = 'billing'")
			.query(Long.class)
			.single();
	}

}
