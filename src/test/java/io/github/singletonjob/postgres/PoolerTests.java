package io.github.singletonjob.postgres;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.servers.PgBouncerServer;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A pooler that shares sessions between connections is found, and one that does not is
 * not.
 */
class PoolerTests {

	private static final String TRANSACTIONS = "pool_mode = transaction";

	private static final int BUSY_CLIENTS = 4;

	private static final int PROBES = 10;

	private final String url = Databases.create();

	private final AtomicBoolean over = new AtomicBoolean();

	private final ExecutorService threads = Executors.newFixedThreadPool(BUSY_CLIENTS);

	@BeforeAll
	static void requirePooler() {
		PgBouncerServer.assumeAvailable();
	}

	@AfterEach
	void stop() {
		this.over.set(true);
		this.threads.shutdown();
	}

	private static void assertFound(String pooled) {
		try (PostgresLeaseStore store = Databases.store(pooled)) {
			UnusableStoreException refusal = assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(store::probe)
				.actual();
			assertThat(refusal).hasMessageContaining("pooler");
			assertThat(refusal.action()).contains("straight to Postgres").contains("pool_mode = session");
		}
	}

	@ParameterizedTest
	@CsvSource({ "0, 10", "1, 10", "0, 2", "1, 2", "0, 1" })
	void oneThatIsIdleIsFound(int roundRobin, int poolSize) throws Exception {
		try (PoolerProcess pooler = PoolerProcess.start(this.url, TRANSACTIONS, "server_round_robin = " + roundRobin,
				"default_pool_size = " + poolSize)) {
			if (poolSize > 1) {
				openTwoSessions(pooler.jdbcUrl());
			}
			for (int i = 0; i < PROBES; i++) {
				assertFound(pooler.jdbcUrl());
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void oneThatIsBusyIsFound(int roundRobin) throws IOException {
		try (PoolerProcess pooler = PoolerProcess.start(this.url, TRANSACTIONS, "server_round_robin = " + roundRobin)) {
			List<Future<Integer>> clients = new ArrayList<>();
			for (int client = 0; client < BUSY_CLIENTS; client++) {
				clients.add(this.threads.submit(() -> keepBusy(pooler.jdbcUrl())));
			}
			for (int i = 0; i < PROBES; i++) {
				assertFound(pooler.jdbcUrl());
			}
			assertThat(clients).noneMatch(Future::isDone);
			this.over.set(true);
			assertThat(clients).allSatisfy((client) -> assertThat(client.get()).isPositive());
		}
	}

	@Test
	void oneThatRefusesTransactionsIsFound() throws IOException {
		try (PoolerProcess pooler = PoolerProcess.start(this.url, "pool_mode = statement")) {
			assertFound(pooler.jdbcUrl());
		}
	}

	@Test
	void oneThatRefusesTransactionsIsFoundBeforeTheTablesAreThere() throws IOException {
		Databases.execute(this.url, "drop table singleton_job_lease");
		try (PoolerProcess pooler = PoolerProcess.start(this.url, "pool_mode = statement")) {
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(new PostgresSchema(Databases.source(pooler.jdbcUrl()))::initialize)
				.withMessageContaining("pooler");
		}
	}

	@Test
	void oneThatRefusesSettingsOfTheConnectionIsNamed() throws IOException {
		try (PoolerProcess pooler = PoolerProcess.start(this.url, TRANSACTIONS)) {
			assertFound(pooler.jdbcUrl() + "?options=-c%20search_path=public");
		}
	}

	@Test
	void oneThatKeepsSessionsApartPasses() throws Exception {
		try (PoolerProcess pooler = PoolerProcess.start(this.url, "pool_mode = session");
				Instances instances = new Instances(() -> Databases.store(pooler.jdbcUrl()),
						new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofSeconds(1)))) {
			PostgresLeaseStore store = (PostgresLeaseStore) instances.open();
			store.probe();
			LeaseGrant grant = instances.acquire(store, instances.job("billing"));
			assertThat(Instances.renew(store, grant)).isEqualTo(Renewal.EXTENDED);
			assertThat(store.release(grant)).isTrue();
		}
	}

	/**
	 * With both warm, a pooler that takes turns gives two connections one each for a
	 * while.
	 */
	private static void openTwoSessions(String pooled) throws SQLException {
		try (Connection first = PostgresServer.connect(pooled); Connection second = PostgresServer.connect(pooled)) {
			for (Connection connection : List.of(first, second)) {
				connection.setAutoCommit(false);
				connection.createStatement().execute("select 1");
			}
			first.commit();
			second.commit();
		}
	}

	private int keepBusy(String pooled) throws SQLException {
		try (Connection connection = PostgresServer.connect(pooled + "?preferQueryMode=simple");
				Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			int transactions = 0;
			while (!this.over.get()) {
				statement.execute("select pg_sleep(0.001)");
				connection.commit();
				transactions++;
			}
			return transactions;
		}
	}

}
