package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The table of the fence.
 */
@Timeout(60)
class FenceSchemaTests {

	private final String url = PostgresServer.shared().newDatabase();

	private final DataSource dataSource = as(PostgresServer.USERNAME, this.url);

	private final FenceSchema schema = new FenceSchema(this.dataSource);

	private final JdbcClient client = JdbcClient.create(this.dataSource);

	@Test
	void itIsCreatedOnce() {
		this.schema.initialize();
		this.client.sql("insert into singleton_job values ('shop', 'billing', 1, 'a')").update();
		this.schema.initialize();
		this.schema.verify();
		assertThat(this.client.sql("select count(*) from singleton_job").query(Long.class).single()).isEqualTo(1);
	}

	@Test
	void thePlannerKnowsFromTheStartThatTheFenceIsSmall() {
		this.schema.initialize();
		assertThat(this.client.sql("explain select from singleton_job where namespace = 'shop' and name = 'billing'")
			.query(String.class)
			.list()).first().asString().startsWith("Seq Scan");
	}

	@Test
	void fireTimesAreCreatedBesideAFenceOfAnotherOwner() {
		this.schema.initialize();
		this.client.sql("drop table singleton_job_fire_time").update();
		this.client.sql("drop function singleton_job_stands_at").update();
		this.client.sql("drop role if exists newcomer").update();
		this.client.sql("create role newcomer login").update();
		this.client.sql("grant select, insert, update on singleton_job to newcomer").update();
		this.client.sql("grant create on schema public to newcomer").update();
		FenceSchema ofNewcomer = new FenceSchema(as("newcomer", this.url));
		ofNewcomer.initialize();
		ofNewcomer.verify();
		this.client.sql("drop owned by newcomer").update();
	}

	@Test
	void aDatabaseThatFallsSilentEndsTheWait() {
		try (TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port())) {
			FenceSchema silent = new FenceSchema(
					new DelegatingDataSource(as(PostgresServer.USERNAME, proxy.through(this.url))) {

						@Override
						public Connection getConnection() throws SQLException {
							Connection connection = super.getConnection();
							proxy.hang();
							return connection;
						}

					});
			CompletableFuture<Void> verification = CompletableFuture.runAsync(silent::verify);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> verification.get(40, TimeUnit.SECONDS))
				.withCauseInstanceOf(LeaseStoreException.class);
		}
	}

	@Test
	void manyInstancesStartAtOnce() throws Exception {
		int instances = 8;
		for (int round = 0; round < 8; round++) {
			this.client.sql("drop table if exists singleton_job, singleton_job_fire_time").update();
			start(instances);
			this.schema.verify();
		}
	}

	private void start(int instances) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(instances);
		try {
			CountDownLatch together = new CountDownLatch(instances);
			List<Future<?>> starts = new ArrayList<>();
			for (int i = 0; i < instances; i++) {
				starts.add(executor.submit(() -> {
					together.countDown();
					together.await();
					new FenceSchema(this.dataSource).initialize();
					return null;
				}));
			}
			for (Future<?> start : starts) {
				start.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void aMissingTableIsReported() {
		assertUnusable(this.schema::verify, "in no schema of the search path", "schema-postgresql.sql");
	}

	@Test
	void aTableOfAnotherShapeIsReported() {
		this.client.sql("create table singleton_job (name text primary key)").update();
		assertUnusable(this.schema::verify, "public.singleton_job has not the columns of a fence", "Rename or drop");
	}

	@Test
	void aTableWithoutAKeyIsReported() {
		this.schema.initialize();
		this.client.sql("alter table singleton_job drop constraint singleton_job_pkey").update();
		assertUnusable(this.schema::verify, "no unique key on (namespace, name)", "Rename or drop");
	}

	@Test
	void missingRightsAreReported() {
		this.schema.initialize();
		this.client.sql("drop role if exists weak").update();
		this.client.sql("create role weak login").update();
		this.client.sql("grant select, insert on singleton_job to weak").update();
		assertUnusable(new FenceSchema(as("weak", this.url))::verify, "may not read and write the fence table",
				"GRANT SELECT, INSERT, UPDATE ON public.singleton_job");
		this.client.sql("grant update on singleton_job to weak").update();
		assertUnusable(new FenceSchema(as("weak", this.url))::verify, "the fence table public.singleton_job_fire_time",
				"GRANT SELECT, INSERT, UPDATE ON public.singleton_job_fire_time");
		this.client.sql("grant select, insert, update on singleton_job_fire_time to weak").update();
		new FenceSchema(as("weak", this.url)).verify();
		this.client.sql("drop owned by weak").update();
	}

	@Test
	void fireTimesThatAreMissingAreReportedAndCreatedBesideTheFence() {
		this.client.sql("create schema jobs").update();
		DataSource inSchema = as(PostgresServer.USERNAME, this.url + "?currentSchema=jobs");
		new FenceSchema(inSchema).initialize();
		this.client.sql("drop table jobs.singleton_job_fire_time").update();
		FenceSchema behindAnother = new FenceSchema(
				as(PostgresServer.USERNAME, this.url + "?currentSchema=public,jobs"));
		assertUnusable(behindAnother::verify, "jobs.singleton_job_fire_time", "schema-postgresql.sql");
		behindAnother.initialize();
		behindAnother.verify();
		assertThat(this.client.sql("select to_regclass('jobs.singleton_job_fire_time') is not null")
			.query(Boolean.class)
			.single()).isTrue();
	}

	@Test
	void aFunctionThatIsMissingIsReportedAndCreated() {
		this.schema.initialize();
		this.client.sql("drop function singleton_job_stands_at").update();
		assertUnusable(this.schema::verify, "The function public.singleton_job_stands_at", "schema-postgresql.sql");
		this.schema.initialize();
		this.schema.verify();
	}

	@Test
	void fireTimesOfAnotherShapeAreReported() {
		this.schema.initialize();
		this.client.sql("alter table singleton_job_fire_time drop column completed").update();
		assertUnusable(this.schema::verify, "has not the columns of fire times", "Rename or drop");
	}

	@Test
	void aRoleThatMayNotCreateIsToldWhatToDo() {
		this.client.sql("drop role if exists weaker").update();
		this.client.sql("create role weaker login").update();
		assertUnusable(new FenceSchema(as("weaker", this.url))::initialize, "refused to set up the fence",
				"schema-postgresql.sql");
	}

	@Test
	void aReadOnlyDataSourceIsReported() {
		this.schema.initialize();
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setDataSource(this.dataSource);
			pool.setReadOnly(true);
			pool.setAutoCommit(false);
			assertUnusable(new FenceSchema(pool)::verify, "read-only by default", "Guard a data source that may write");
		}
	}

	@Test
	void theTableIsFoundInAnotherSchemaOfTheSearchPath() {
		this.client.sql("create schema \"My jobs\"").update();
		String inSchema = this.url + "?currentSchema=%22My%20jobs%22";
		new FenceSchema(as(PostgresServer.USERNAME, inSchema)).initialize();
		assertThat(this.client.sql("select to_regclass('\"My jobs\".singleton_job') is not null")
			.query(Boolean.class)
			.single()).isTrue();
		new FenceSchema(as(PostgresServer.USERNAME, inSchema)).verify();
	}

	@Test
	void noAnswerIsNotAWrongAnswer() {
		FenceSchema unreachable = new FenceSchema(as("x", "jdbc:postgresql://localhost:1/x"));
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(unreachable::verify);
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setDataSource(as("x", "jdbc:postgresql://localhost:1/x"));
			pool.setConnectionTimeout(300);
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(new FenceSchema(pool)::initialize);
		}
	}

	private static DataSource as(String username, String url) {
		return new DriverManagerDataSource(url, username, "");
	}

	private static void assertUnusable(Runnable call, String message, String action) {
		assertThatExceptionOfType(FenceUnusableException.class).isThrownBy(call::run)
			.withMessageContaining(message)
			.satisfies((ex) -> assertThat(ex.getAction()).contains(action));
	}

}
