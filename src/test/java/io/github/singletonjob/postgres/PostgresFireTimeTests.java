package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.servers.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the acquiring and the releasing statement make of fire times, also when they meet.
 */
class PostgresFireTimeTests {

	private static final Instant MIDNIGHT = Instant.parse("2026-11-29T00:00:00Z");

	private static final int ROUNDS = 400;

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1),
			Duration.ofSeconds(3));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

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

	private LeaseRequest request(Instant fireTime) {
		return this.instances.request(this.job, "somebody").forFiring(new Firing("", fireTime, true));
	}

	private LeaseGrant begin(LeaseStore store, Instant fireTime) {
		return this.instances.acquire(store, request(fireTime));
	}

	@Test
	void anAttemptWithNothingToRunWritesNothing() throws Exception {
		this.store.release(begin(this.store, MIDNIGHT), MIDNIGHT);
		this.instances.isHeld(this.other, this.instances.job("opens the session"));
		Instant tomorrow = Instant.now().plus(1, ChronoUnit.DAYS);
		assertWritesNothing(() -> {
			assertThat(this.other.tryAcquire(request(MIDNIGHT))).isEqualTo(new Acquisition.AlreadyRan(MIDNIGHT));
			assertThat(this.other.tryAcquire(request(null))).isEqualTo(new Acquisition.AlreadyRan(MIDNIGHT));
			assertThat(this.other.tryAcquire(request(tomorrow))).isInstanceOf(Acquisition.Early.class);
		});
	}

	@Test
	void aContendedFiringWritesNothing() throws Exception {
		begin(this.store, MIDNIGHT);
		assertWritesNothing(() -> {
			assertThat(this.other.tryAcquire(request(MIDNIGHT))).isEqualTo(new Acquisition.Held("somebody"));
			assertThat(this.other.tryAcquire(request(null))).isEqualTo(new Acquisition.Held("somebody"));
		});
	}

	private void assertWritesNothing(Runnable attempts) throws Exception {
		attempts.run();
		try (Connection operator = PostgresServer.connect(this.url)) {
			boolean nothingWritten = false;
			// The server itself writes to its log now and then: one undisturbed round is
			// the proof
			for (int round = 0; round < 5 && !nothingWritten; round++) {
				String before = written(operator);
				for (int attempt = 0; attempt < 20; attempt++) {
					attempts.run();
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
	void anAttemptThatHasBegunBeforeTheCompletionDoesNotRepeatIt() throws Exception {
		LeaseGrant grant = begin(this.store, MIDNIGHT);
		CompletableFuture<Acquisition> late = slowlyLocking(request(MIDNIGHT));
		this.store.release(grant, MIDNIGHT);
		assertThat(late.get(20, TimeUnit.SECONDS)).isEqualTo(new Acquisition.AlreadyRan(MIDNIGHT));
		assertThat(Databases.advisoryLocks(this.url)).isZero();
		assertThat(token()).isEqualTo(grant.token());
	}

	@Test
	void anAttemptThatHasBegunBeforeTheReleaseFinishesWhatWasLeftOpen() throws Exception {
		LeaseGrant grant = begin(this.store, MIDNIGHT);
		CompletableFuture<Acquisition> late = slowlyLocking(request(MIDNIGHT.plusSeconds(60)));
		this.store.release(grant, null);
		assertThat(late.get(20, TimeUnit.SECONDS)).isInstanceOfSatisfying(Acquisition.Acquired.class, (acquired) -> {
			assertThat(acquired.grant().fireTime().instant()).isEqualTo(MIDNIGHT);
			assertThat(acquired.grant().fireTime().takeover()).isTrue();
			assertThat(acquired.grant().followsUnreleased()).isFalse();
		});
	}

	@Test
	void anAttemptThatHasBegunBeforeTheFirstFireTimeWasThereDoesNotRepeatIt() throws Exception {
		LeaseGrant extra = this.instances.acquire(this.store, this.job);
		CompletableFuture<Acquisition> late = slowlyLocking(request(MIDNIGHT));
		this.store.release(extra);
		this.store.release(begin(this.store, MIDNIGHT), MIDNIGHT);
		assertThat(late.get(20, TimeUnit.SECONDS)).isEqualTo(new Acquisition.AlreadyRan(MIDNIGHT));
	}

	/** An attempt whose snapshot is older, by a second, than its attempt to lock. */
	private CompletableFuture<Acquisition> slowlyLocking(LeaseRequest request) {
		Databases.execute(this.url, """
				create schema slow;
				create table slow.lane (key bigint primary key);
				create function slow.pg_try_advisory_lock(key bigint) returns boolean language plpgsql as $$
				begin
					if exists (select from slow.lane l where l.key = $1) then
						perform pg_sleep(1);
					end if;
					return pg_catalog.pg_try_advisory_lock($1);
				end $$;
				insert into slow.lane values (%d)""".formatted(LockKey.of(this.job)));
		PostgresLeaseStore slow = Databases.store(this.url + "?currentSchema=slow,pg_catalog,public");
		CompletableFuture<Acquisition> attempt = CompletableFuture.supplyAsync(() -> slow.tryAcquire(request))
			.whenComplete((answer, failure) -> slow.close());
		await().until(() -> Databases.ask(this.url, """
				select count(*) from pg_stat_activity where wait_event = 'PgSleep'
				and datname = current_database()""") == 1);
		return attempt;
	}

	private long token() {
		return Databases.ask(this.url, "select token from singleton_job_lease where name = 'billing'");
	}

	@Test
	void noFireTimeIsRepeatedHoweverAttemptsAndReleasesMeet() throws Exception {
		AtomicReference<Instant> last = new AtomicReference<>(MIDNIGHT);
		List<Instant> begun = Collections.synchronizedList(new ArrayList<>());
		ExecutorService threads = Executors.newFixedThreadPool(2);
		try {
			List<Future<?>> competitors = new ArrayList<>();
			for (LeaseStore competitor : List.of(this.store, this.other)) {
				competitors.add(threads.submit(() -> compete(competitor, last, begun)));
			}
			for (Future<?> competitor : competitors) {
				competitor.get(120, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(begun).as("wrong data: fire times that ran")
			.hasSizeGreaterThanOrEqualTo(ROUNDS)
			.doesNotHaveDuplicates()
			.isSorted();
	}

	private void compete(LeaseStore competitor, AtomicReference<Instant> last, List<Instant> begun) {
		while (last.get().isBefore(MIDNIGHT.plusSeconds(ROUNDS))) {
			Instant due = last.get();
			Acquisition answer = competitor.tryAcquire(request(due));
			if (answer instanceof Acquisition.Acquired acquired) {
				begun.add(acquired.grant().fireTime().instant());
				assertThat(acquired.grant().fireTime().takeover()).isFalse();
				assertThat(competitor.release(acquired.grant(), due)).isTrue();
			}
			else if (answer instanceof Acquisition.AlreadyRan) {
				last.compareAndSet(due, due.plusSeconds(1));
			}
		}
	}

	@Test
	void aFireTimeWhoseHolderWasEndedIsTakenOverAndSaysSo() {
		LeaseGrant first = begin(this.store, MIDNIGHT);
		assertThat(first.followsUnreleased()).isFalse();
		Databases.execute(this.url, """
				select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
				and database = (select oid from pg_database where datname = current_database())""");
		LeaseGrant second = Instances.awaitGrant(() -> this.other.tryAcquire(request(MIDNIGHT.plusSeconds(60))));
		assertThat(second.fireTime().instant()).isEqualTo(MIDNIGHT);
		assertThat(second.fireTime().takeover()).isTrue();
		assertThat(second.followsUnreleased()).isTrue();
		assertThat(this.other.release(second, MIDNIGHT)).isTrue();
		assertThat(begin(this.other, MIDNIGHT.plusSeconds(60)).followsUnreleased()).isFalse();
	}

	@Test
	void aJobThatWasTakenAwayByAnOperatorFollowsAnUnreleasedOne() {
		LeaseGrant first = begin(this.store, MIDNIGHT);
		Databases.execute(this.url, "update singleton_job_lease set owner = null");
		Instances.renew(this.store, first);
		assertThat(begin(this.other, MIDNIGHT).followsUnreleased()).isTrue();
	}

	@Test
	void nothingIsRecordedForALeaseThatIsNotOurs() {
		LeaseGrant grant = begin(this.store, MIDNIGHT);
		Databases.execute(this.url, "update singleton_job_lease set owner = 'somebody'");
		assertThat(this.store.complete(grant, MIDNIGHT)).isFalse();
		assertThat(this.store.release(grant, MIDNIGHT)).isFalse();
		assertThat(this.other.inspect(this.job, this.traits.callTimeout()).fireTimes()).containsEntry("",
				new FireTimes(MIDNIGHT, null));
	}

	@Test
	void theReleaseOfACompletedFireTimeIsOnDiskBeforeItReturns() {
		Databases.execute(this.url, """
				create table commits (kind text);
				create function note() returns trigger language plpgsql as $$
				begin
					insert into commits values (current_setting('synchronous_commit'));
					return null;
				end $$;
				create constraint trigger note after update on singleton_job_lease deferrable initially deferred
				for each row when (new.owner is null) execute function note()""");
		this.store.release(begin(this.store, MIDNIGHT), MIDNIGHT);
		assertThat(Databases.ask(this.url, "select count(*) from commits where kind = 'on'")).isEqualTo(1);
		this.store.release(begin(this.store, MIDNIGHT.plusSeconds(60)), null);
		assertThat(Databases.ask(this.url, "select count(*) from commits where kind = 'off'")).isEqualTo(1);
	}

	@Test
	void aReleaseThatCannotMarkItsRowRecordsTheFireTimeAllTheSame() {
		LeaseGrant grant = begin(this.store, MIDNIGHT);
		Databases.execute(this.url,
				"alter table singleton_job_lease add constraint no check (owner is not null) not valid");
		assertThat(this.store.release(grant, MIDNIGHT)).isTrue();
		Databases.execute(this.url, "alter table singleton_job_lease drop constraint no");
		assertThat(this.other.tryAcquire(request(MIDNIGHT))).isEqualTo(new Acquisition.AlreadyRan(MIDNIGHT));
	}

	@Test
	void aLookNeedsNoLeaseAndSeesOtherInstances() {
		assertThat(this.other.inspect(this.job, this.traits.callTimeout()).held()).isFalse();
		LeaseGrant grant = begin(this.store, MIDNIGHT);
		LeaseRecord held = this.other.inspect(this.job, this.traits.callTimeout());
		assertThat(held.held()).isTrue();
		assertThat(held.holder()).isEqualTo("somebody");
		assertThat(held.token()).isEqualTo(grant.token());
		assertThat(held.fireTimes()).containsEntry("", new FireTimes(MIDNIGHT, null));
		this.store.release(grant, MIDNIGHT);
		LeaseRecord free = this.other.inspect(this.job, this.traits.callTimeout());
		assertThat(free.held()).isFalse();
		assertThat(free.holder()).isNull();
		assertThat(free.fireTimes()).containsEntry("", new FireTimes(MIDNIGHT, MIDNIGHT));
	}

	@Test
	void aLookUsesTheSessionThatIsOpen() {
		begin(this.store, MIDNIGHT);
		for (int i = 0; i < 10; i++) {
			assertThat(this.store.inspect(this.job, this.traits.callTimeout()).held()).isTrue();
		}
		assertThat(Databases.sessions(this.url)).isEqualTo(1);
	}

}
