package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an attempt leaves in Postgres, and what it does not.
 */
class PostgresAcquireTests {

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(4), Duration.ofSeconds(1),
			Duration.ofMillis(600));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private LeaseStore store;

	private LeaseStore other;

	@BeforeEach
	void openStores() {
		this.store = this.instances.open();
		this.other = this.instances.open();
	}

	@AfterEach
	void closeStores() throws Exception {
		this.instances.close();
	}

	@Test
	void contendedAttemptsWriteNothing() throws Exception {
		JobId job = this.instances.job("billing");
		this.instances.acquire(this.store, job);
		assertThat(this.instances.isHeld(this.other, job)).isTrue();
		try (Connection operator = PostgresServer.connect(this.url)) {
			boolean nothingWritten = false;
			// The server itself writes to its log now and then: one undisturbed round is
			// the proof
			for (int round = 0; round < 5 && !nothingWritten; round++) {
				String before = written(operator);
				for (int attempt = 0; attempt < 50; attempt++) {
					assertThat(this.instances.isHeld(this.other, job)).isTrue();
				}
				nothingWritten = written(operator).equals(before);
			}
			assertThat(nothingWritten).isTrue();
		}
	}

	private static String written(Connection operator) throws Exception {
		try (Statement statement = operator.createStatement();
				ResultSet row = statement.executeQuery(
						"select pg_current_wal_insert_lsn() || ' ' || pg_snapshot_xmax(pg_current_snapshot())")) {
			row.next();
			return row.getString(1);
		}
	}

	@Test
	void advisoryLocksAreNotStackedOverSessionsOfOneInstance() {
		JobId job = this.instances.job("billing");
		LeaseGrant grant = this.instances.acquire(this.store, job);
		assertThat(this.instances.isHeld(this.store, job)).isTrue();
		LeaseRequest otherSession = new LeaseRequest(job, UUID.randomUUID().toString(), "x", Duration.ofSeconds(9),
				this.traits.callTimeout(), 0);
		assertThat(this.store.tryAcquire(otherSession)).isInstanceOf(Acquisition.Held.class);
		assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
		assertThat(this.store.release(grant)).isTrue();
		assertThat(Databases.advisoryLocks(this.url)).isZero();
	}

	@Test
	void releaseClearsTheRowAndTheLock() {
		LeaseGrant grant = this.instances.acquire(this.store, this.instances.job("billing"));
		assertThat(Databases.ask(this.url, "select count(*) from singleton_job_lease where owner is not null"))
			.isEqualTo(1);
		this.store.release(grant);
		assertThat(Databases.advisoryLocks(this.url)).isZero();
		assertThat(Databases.ask(this.url, """
				select count(*) from singleton_job_lease where owner is null and released_at >= granted_at"""))
			.isEqualTo(1);
	}

	@Test
	void anErrorAfterTheLockWasTakenFreesThatLockOnly() {
		LeaseGrant kept = this.instances.acquire(this.store, this.instances.job("kept"));
		Databases.execute(this.url, "alter table singleton_job_lease add constraint no check (name <> 'refused')");
		JobId refused = this.instances.job("refused");
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.instances.isHeld(this.store, refused))
			.withMessageContaining("23514");
		assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
		assertThat(Instances.renew(this.store, kept)).isEqualTo(Renewal.EXTENDED);
		assertThat(this.instances.isHeld(this.other, kept.job())).isTrue();
		Databases.execute(this.url, "alter table singleton_job_lease drop constraint no");
		this.instances.acquire(this.store, refused);
	}

	@Test
	void aRowThatWasNotWrittenIsNoGrant() {
		Databases.execute(this.url, """
				create function swallow() returns trigger language plpgsql as 'begin return null; end';
				create trigger swallow before insert on singleton_job_lease for each row execute function swallow()""");
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.instances.isHeld(this.store, this.instances.job("billing")))
			.withMessageContaining("trigger");
		assertThat(Databases.advisoryLocks(this.url)).isZero();
	}

	@Test
	void aMissingTableIsToldAndFoundWhenItIsThere() {
		LeaseGrant grant = this.instances.acquire(this.store, this.instances.job("billing"));
		Databases.execute(this.url, "drop table singleton_job_lease");
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.instances.isHeld(this.store, this.instances.job("reminders")))
			.withMessageContaining("singleton_job_lease does not exist")
			.withMessageContaining("initialize-schema");
		assertThat(this.store.release(grant)).isTrue();
		assertThat(Databases.advisoryLocks(this.url)).isZero();
		Databases.execute(this.url, PostgresSchema.script());
		LeaseGrant next = this.instances.acquire(this.store, this.instances.job("billing"));
		assertThat(next.token()).isGreaterThan(grant.token());
	}

	@Test
	void anInterruptedAttemptKeepsTheInterruptAndLeavesNoLease() {
		LeaseGrant kept = this.instances.acquire(this.store, this.instances.job("kept"));
		JobId job = this.instances.job("billing");
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> this.instances.isHeld(this.store, job));
		assertThat(Thread.interrupted()).isTrue();
		Instances.awaitGrant(() -> this.other.tryAcquire(this.instances.request(job, "next")));
		assertThat(Instances.renew(this.store, kept)).isEqualTo(Renewal.EXTENDED);
	}

}
