package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.RacingRenewals;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The session is the lease: what ends it, and what is left of it.
 */
class SessionTests {

	private static final String TERMINATE = """
			select count(pg_terminate_backend(pid)) from pg_stat_activity
			where application_name = 'singleton-job test' and datname = current_database()""";

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1),
			Duration.ofMillis(600));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	private LeaseStore store;

	@BeforeEach
	void openStore() {
		this.store = this.instances.open();
	}

	@AfterEach
	void closeStores() throws Exception {
		this.instances.close();
	}

	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofSeconds(10));
	}

	@Test
	void terminatedByTheServerIsGoneAtTheNextRenewal() {
		LeaseGrant first = this.instances.acquire(this.store, this.job);
		LeaseGrant second = this.instances.acquire(this.store, this.instances.job("reminders"));
		assertThat(Databases.ask(this.url, TERMINATE)).isEqualTo(1);
		LeaseStore other = this.instances.open();
		LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "next")));
		assertThat(this.store.renew(List.of(first, second))).containsExactly(Renewal.GONE, Renewal.GONE);
		assertThat(this.store.release(first)).isFalse();
		assertThat(Instances.renew(other, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void terminatedByTheServerAnswersAReleaseWithNo() {
		LeaseGrant grant = this.instances.acquire(this.store, this.job);
		Databases.ask(this.url, TERMINATE);
		assertThat(this.store.release(grant)).isFalse();
	}

	@Test
	void isOpenedAnewWithinTheSameAttempt() {
		this.store.release(this.instances.acquire(this.store, this.job));
		assertThat(Databases.ask(this.url, TERMINATE)).isEqualTo(1);
		this.instances.acquire(this.store, this.job);
	}

	@Test
	void anOperatorTakesAJobAwayByClearingItsRow() {
		LeaseGrant cleared = this.instances.acquire(this.store, this.job);
		LeaseGrant deleted = this.instances.acquire(this.store, this.instances.job("deleted"));
		LeaseGrant kept = this.instances.acquire(this.store, this.instances.job("kept"));
		Databases.execute(this.url, "update singleton_job_lease set owner = null where name = 'billing'");
		Databases.execute(this.url, "delete from singleton_job_lease where name = 'deleted'");
		assertThat(this.store.renew(List.of(cleared, deleted, kept))).containsExactly(Renewal.GONE, Renewal.GONE,
				Renewal.EXTENDED);
		assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
		LeaseStore other = this.instances.open();
		assertThat(this.instances.acquire(other, this.job).token()).isGreaterThan(cleared.token());
		assertThat(this.instances.acquire(other, deleted.job()).token()).isGreaterThan(deleted.token());
		assertThat(this.store.release(cleared)).isFalse();
		assertThat(this.store.release(kept)).isTrue();
	}

	@Test
	void onAnotherBackendThanBeforeIsGone() {
		Databases.execute(this.url, """
				create schema fake;
				create table fake.moved (pids int);
				insert into fake.moved values (0);
				create function fake.pg_backend_pid() returns int language sql
					as 'select pg_catalog.pg_backend_pid() + pids from fake.moved'""");
		try (PostgresLeaseStore pooled = Databases.store(this.url + "?currentSchema=fake,pg_catalog,public")) {
			LeaseGrant grant = this.instances.acquire(pooled, this.job);
			assertThat(Instances.renew(pooled, grant)).isEqualTo(Renewal.EXTENDED);
			Databases.execute(this.url, "update fake.moved set pids = 1");
			assertThat(Instances.renew(pooled, grant)).isEqualTo(Renewal.GONE);
			await().until(() -> Databases.advisoryLocks(this.url) == 0);
		}
	}

	@Test
	void isAnotherForJobsThatWaitForAnAnswerForAnotherTime() {
		this.instances.acquire(this.store, this.job);
		Duration longer = this.traits.callTimeout().multipliedBy(2);
		this.instances.acquire(this.store,
				new LeaseRequest(this.instances.job("patient"), "owner", "holder", this.traits.ttl(), longer, 0, null));
		assertThat(Databases.ask(this.url, """
				select count(*) from pg_stat_activity
				where application_name = 'singleton-job test' and datname = current_database()""")).isEqualTo(2);
	}

	@Test
	void withoutLeasesIsClosedAndOpenedWhenNeeded() {
		this.store.release(this.instances.acquire(this.store, this.job));
		assertThat(Databases.sessions(this.url)).isEqualTo(1);
		await().until(() -> Databases.sessions(this.url) == 0 && sessionThreads().isEmpty());
		this.instances.acquire(this.store, this.job);
	}

	@Test
	void endsWithItsStore() throws Exception {
		LeaseGrant grant = this.instances.acquire(this.store, this.job);
		((PostgresLeaseStore) this.store).close();
		await().atMost(this.traits.ttl().dividedBy(2)).until(() -> Databases.advisoryLocks(this.url) == 0);
		assertThat(sessionThreads()).isEmpty();
		assertThat(Instances.renew(this.store, grant)).isEqualTo(Renewal.GONE);
		assertThat(this.store.release(grant)).isFalse();
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.instances.isHeld(this.store, this.job))
			.withMessageContaining("closed");
	}

	@Test
	void doesNotGoBackToAPool() throws SQLException {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(this.url);
			pool.setUsername(PostgresServer.USERNAME);
			pool.setMaximumPoolSize(3);
			try (PostgresLeaseStore pooled = new PostgresLeaseStore(pool::getConnection, "singleton-job test")) {
				this.instances.acquire(pooled, this.job);
				assertThat(Databases.sessions(this.url)).isEqualTo(1);
			}
			assertThat(idleSessionTimeouts(pool, 3)).containsExactly("0", "0", "0");
			await().until(() -> Databases.sessions(this.url) == 0 && Databases.advisoryLocks(this.url) == 0);
		}
	}

	/** Of as many connections at once. */
	private static List<String> idleSessionTimeouts(DataSource pool, int connections) throws SQLException {
		if (connections == 0) {
			return List.of();
		}
		try (Connection connection = pool.getConnection();
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("show idle_session_timeout")) {
			row.next();
			List<String> timeouts = new ArrayList<>(idleSessionTimeouts(pool, connections - 1));
			timeouts.add(row.getString(1));
			return timeouts;
		}
	}

	@Test
	void roundsWithRacingRenewalsLeaveNothing() {
		Duration ttl = Duration.ofSeconds(5);
		Instances patient = new Instances(() -> this.store, new StoreTraits(ttl, ttl, ttl));
		RacingRenewals.race(this.store, (worker) -> patient.request(patient.job("job " + worker), "somebody"), 5000);
		assertThat(Databases.advisoryLocks(this.url)).isZero();
		assertThat(Databases.sessions(this.url)).isEqualTo(1);
		assertThat(sessionThreads()).hasSizeLessThanOrEqualTo(2);
		assertThat(Databases.ask(this.url, "select count(*) from singleton_job_lease")).isEqualTo(4);
		assertThat(Databases.ask(this.url, "select count(owner) from singleton_job_lease")).isZero();
		await().until(() -> Databases.sessions(this.url) == 0 && sessionThreads().isEmpty());
	}

	private static Set<String> sessionThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("singleton-job-postgres"))
			.collect(Collectors.toSet());
	}

}
