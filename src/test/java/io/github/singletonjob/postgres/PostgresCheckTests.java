package io.github.singletonjob.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A database that cannot keep leases is found at the start, with advice.
 */
class PostgresCheckTests {

	private final String url = Databases.create();

	private final Instances instances = new Instances(() -> Databases.store(this.url),
			new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofSeconds(3)));

	private UnusableStoreException refusal(SessionSource source) {
		try (PostgresLeaseStore store = new PostgresLeaseStore(source, "singleton-job test")) {
			UnusableStoreException refusal = assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(store::probe)
				.actual();
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> this.instances.isHeld(store, this.instances.job("billing")))
				.withMessage(refusal.getMessage());
			return refusal;
		}
	}

	@Test
	void aDirectConnectionPasses() {
		try (PostgresLeaseStore store = Databases.store(this.url)) {
			store.probe();
			store.probe();
		}
		assertThat(Databases.advisoryLocks(this.url)).isZero();
	}

	@Test
	void aPlainProxyPasses() {
		try (TcpProxy proxy = TcpProxy.to(Databases.server().port())) {
			for (int i = 0; i < 10; i++) {
				try (PostgresLeaseStore store = Databases.store(proxy.through(this.url))) {
					store.probe();
				}
			}
		}
	}

	@Test
	void aServerThatIsTooOldIsRefused() {
		UnusableStoreException refusal = refusal(() -> ofVersion(13, PostgresServer.connect(this.url)));
		assertThat(refusal).hasMessageContaining("Postgres 14 or newer").hasMessageContaining("13");
		assertThat(refusal.action()).contains("Upgrade");
	}

	@Test
	void aStandbyIsRefused() {
		Databases.execute(this.url, """
				create schema fake;
				create function fake.pg_is_in_recovery() returns boolean language sql as 'select true'""");
		UnusableStoreException refusal = refusal(Databases.source(this.url + "?currentSchema=fake,pg_catalog,public"));
		assertThat(refusal).hasMessageContaining("stand-by");
		assertThat(refusal.action()).contains("targetServerType=primary");
	}

	@Test
	void advisoryLocksThatDoNotExcludeAreRefused() {
		Databases.execute(this.url, """
				create schema fake;
				create function fake.pg_try_advisory_lock(bigint) returns boolean language sql as 'select true'""");
		assertThat(refusal(Databases.source(this.url + "?currentSchema=fake,pg_catalog,public")))
			.hasMessageContaining("do not exclude");
	}

	@Test
	void aMissingTableIsRefusedUntilItIsThere() {
		Databases.execute(this.url, "drop table singleton_job_lease");
		UnusableStoreException refusal = refusal(Databases.source(this.url));
		assertThat(refusal).hasMessageContaining("singleton_job_lease");
		assertThat(refusal.action()).contains("initialize-schema").contains("schema.sql");
		try (PostgresLeaseStore store = Databases.store(this.url)) {
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(store::probe);
			Databases.execute(this.url, PostgresSchema.script());
			this.instances.acquire(store, this.instances.job("billing"));
		}
	}

	@Test
	void anotherTableIsRefused() {
		Databases.execute(this.url, "alter table singleton_job_lease rename column holder to who");
		assertThat(refusal(Databases.source(this.url))).hasMessageContaining("is not the one");
	}

	@Test
	void aTableWithoutItsKeyIsRefused() {
		Databases.execute(this.url, "alter table singleton_job_lease drop constraint singleton_job_lease_pkey");
		assertThat(refusal(Databases.source(this.url))).hasMessageContaining("is not the one");
	}

	@Test
	void missingRightsAreRefused() {
		String user = "clerk" + System.nanoTime();
		Databases.execute(this.url, "create role " + user + " login; grant select, insert on singleton_job_lease to "
				+ user + "; grant select, insert, update on singleton_job_lease_fire_time to " + user);
		SessionSource source = Databases.source(this.url + "?options=-c%20role=" + user);
		UnusableStoreException refusal = refusal(source);
		assertThat(refusal).hasMessageContaining("permission denied");
		assertThat(refusal.action()).contains("GRANT SELECT, INSERT, UPDATE ON singleton_job_lease");
		Databases.execute(this.url, "grant update on singleton_job_lease to " + user);
		try (PostgresLeaseStore store = new PostgresLeaseStore(source, "singleton-job test")) {
			store.probe();
			assertThat(store.release(this.instances.acquire(store, this.instances.job("billing")))).isTrue();
		}
	}

	@Test
	void missingRightsOnTheFireTimesAreRefused() {
		String user = "clerk" + System.nanoTime();
		Databases.execute(this.url,
				"create role " + user + " login; grant select, insert, update on singleton_job_lease to " + user
						+ "; grant select, insert on singleton_job_lease_fire_time to " + user);
		UnusableStoreException refusal = refusal(Databases.source(this.url + "?options=-c%20role=" + user));
		assertThat(refusal).hasMessageContaining("permission denied")
			.hasMessageContaining("singleton_job_lease_fire_time");
		assertThat(refusal.action())
			.contains("GRANT SELECT, INSERT, UPDATE ON singleton_job_lease, singleton_job_lease_fire_time");
	}

	@Test
	void aMissingTableOfFireTimesIsNamed() {
		Databases.execute(this.url, "drop table singleton_job_lease_fire_time");
		assertThat(refusal(Databases.source(this.url)))
			.hasMessageContaining("The table singleton_job_lease_fire_time of the lease store does not exist");
	}

	@ParameterizedTest
	@CsvSource({ "nobody, postgres, role \"nobody\" does not exist",
			"postgres, nothing, database \"nothing\" does not exist" })
	void aUserOrADatabaseThatIsNotThereIsAnAnswer(String user, String database, String answer) {
		String wrong = this.url.substring(0, this.url.lastIndexOf('/') + 1) + database;
		UnusableStoreException refusal = refusal(() -> DriverManager.getConnection(wrong, user, ""));
		assertThat(refusal).hasMessageContaining(answer);
		assertThat(refusal.action()).contains("user").contains("database");
	}

	@Test
	void aHostThatIsNotKnownIsNamed() {
		try (PostgresLeaseStore store = Databases.store("jdbc:postgresql://no-such-host.invalid/shop")) {
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(store::probe)
				.isNotInstanceOf(UnusableStoreException.class)
				.withMessageContaining("UnknownHostException")
				.withMessageContaining("no-such-host.invalid");
		}
	}

	@Test
	void noAnswerIsNoRefusalAndIsProbedAgainBeforeTheFirstGrant() {
		try (TcpProxy proxy = TcpProxy.to(Databases.server().port());
				PostgresLeaseStore store = Databases.store(proxy.through(this.url))) {
			proxy.refuse();
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(store::probe)
				.isNotInstanceOf(UnusableStoreException.class);
			proxy.pass();
			int before = proxy.connections();
			this.instances.acquire(store, this.instances.job("billing"));
			assertThat(proxy.connections() - before).isEqualTo(3);
		}
	}

	private static Connection ofVersion(int version, Connection connection) throws SQLException {
		DatabaseMetaData metaData = (DatabaseMetaData) answering(DatabaseMetaData.class, connection.getMetaData(),
				"getDatabaseMajorVersion", version);
		return (Connection) answering(Connection.class, connection, "getMetaData", metaData);
	}

	private static Object answering(Class<?> type, Object target, String method, Object answer) {
		return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, called, args) -> {
			if (called.getName().equals(method)) {
				return answer;
			}
			try {
				return called.invoke(target, args);
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		});
	}

}
