package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The table is created once, by whoever comes first.
 */
class SchemaTests {

	private static final int STARTERS = 8;

	private static final int ROUNDS = 10;

	private final String url = Databases.server().newDatabase();

	@Test
	void isCreatedByManyStartersAtOnce() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(STARTERS);
		try {
			for (int round = 0; round < ROUNDS; round++) {
				Databases.execute(this.url, "drop table if exists singleton_job_lease, singleton_job_lease_fire_time");
				List<Callable<Object>> starters = new ArrayList<>();
				for (int i = 0; i < STARTERS; i++) {
					starters.add(Executors.callable(new PostgresSchema(Databases.source(this.url))::initialize));
				}
				for (Future<Object> starter : threads.invokeAll(starters)) {
					starter.get();
				}
			}
		}
		finally {
			threads.shutdownNow();
		}
		try (PostgresLeaseStore store = Databases.store(this.url)) {
			store.probe();
		}
	}

	@Test
	void isLeftAloneWhereItExists() {
		PostgresSchema schema = new PostgresSchema(Databases.source(this.url));
		schema.initialize();
		Databases.execute(this.url, "insert into singleton_job_lease values ('n', 'j', 1, 2)");
		schema.initialize();
		assertThat(Databases.ask(this.url, "select count(*) from singleton_job_lease")).isEqualTo(1);
	}

	@Test
	void onlyTheMissingTableIsCreated() {
		PostgresSchema schema = new PostgresSchema(Databases.source(this.url));
		schema.initialize();
		Databases.execute(this.url, """
				insert into singleton_job_lease values ('n', 'j', 1, 2);
				drop table singleton_job_lease_fire_time""");
		schema.initialize();
		assertThat(Databases.ask(this.url, "select count(*) from singleton_job_lease")).isEqualTo(1);
		try (PostgresLeaseStore store = Databases.store(this.url)) {
			store.probe();
		}
	}

	@Test
	void aServerThatFallsSilentEndsTheWait() {
		try (TcpProxy proxy = TcpProxy.to(Databases.server().port())) {
			PostgresSchema schema = new PostgresSchema(() -> {
				Connection connection = PostgresServer.connect(proxy.through(this.url));
				proxy.hang();
				return connection;
			});
			CompletableFuture<Void> silent = CompletableFuture.runAsync(schema::initialize);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> silent.get(40, TimeUnit.SECONDS))
				.withCauseInstanceOf(LeaseStoreException.class)
				.withMessageContaining("08006");
		}
	}

	@Test
	void withoutTheRightSaysWhatAnAdministratorIsToExecute() {
		String user = "clerk" + System.nanoTime();
		Databases.execute(this.url, "create role " + user + " login");
		PostgresSchema schema = new PostgresSchema(Databases.source(this.url + "?options=-c%20role=" + user));
		assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(schema::initialize)
			.withMessageContaining("permission denied")
			.satisfies((ex) -> assertThat(ex.action()).contains(PostgresSchema.script()));
		Databases.execute(this.url, PostgresSchema.script());
		schema.initialize();
	}

}
