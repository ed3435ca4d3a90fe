package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.PostgresServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One job that is stuck does not disturb another one on the same session.
 */
class BlockedAcquireTests {

	private static final int STUCK_JOBS = 4;

	private final String url = Databases.create();

	/** The call time-out that follows from this time to live and the default settings. */
	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(3), Duration.ofSeconds(1),
			Duration.ofMillis(275));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final ExecutorService threads = Executors.newFixedThreadPool(STUCK_JOBS);

	private final AtomicBoolean over = new AtomicBoolean();

	private LeaseStore store;

	private LeaseGrant kept;

	@BeforeEach
	void acquire() {
		this.store = this.instances.open();
		this.kept = Instances
			.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.instances.job("kept"), "us")));
	}

	@AfterEach
	void close() throws Exception {
		this.threads.shutdownNow();
		this.instances.close();
	}

	@Test
	void rowsThatSomebodyElseHasLocked() throws Exception {
		for (int i = 0; i < STUCK_JOBS; i++) {
			JobId job = stuck(i);
			this.store
				.release(Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(job, "before"))));
		}
		try (Connection migration = PostgresServer.connect(this.url);
				Statement statement = migration.createStatement()) {
			migration.setAutoCommit(false);
			statement.execute("select * from singleton_job_lease where name like 'stuck%' for update");
			assertThat(attemptsWhileRenewed()).anySatisfy(
					(message) -> assertThat(message).contains("has locked its row").contains("pg_stat_activity"));
			migration.rollback();
		}
		assertNothingIsLeftBehind();
	}

	@Test
	void statementsThatTimeOut() throws Exception {
		Databases.execute(this.url,
				"""
						create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(5); return new; end';
						create trigger dawdle before insert on singleton_job_lease for each row
						when (new.name like 'stuck%') execute function dawdle()""");
		assertThat(attemptsWhileRenewed()).anySatisfy((message) -> assertThat(message).contains("time-out"));
		// Has to wait for statements that are under way
		Future<?> drop = this.threads
			.submit(() -> Databases.execute(this.url, "drop trigger dawdle on singleton_job_lease"));
		awaitEnd(List.of(drop));
		drop.get();
		assertNothingIsLeftBehind();
	}

	private JobId stuck(int number) {
		return this.instances.job("stuck " + number);
	}

	/**
	 * Renews for two times to live while other jobs ask; answers what these were told.
	 */
	private Set<String> attemptsWhileRenewed() throws Exception {
		List<Future<Set<String>>> attempts = new ArrayList<>();
		for (int i = 0; i < STUCK_JOBS; i++) {
			JobId job = stuck(i);
			attempts.add(this.threads.submit(() -> attempts(job)));
		}
		List<Boolean> inTime = new ArrayList<>();
		long start = System.nanoTime();
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(this.traits.ttl().dividedBy(20))
			.atMost(this.traits.ttl().multipliedBy(4))
			.until(() -> {
				inTime.add(isRenewedInTime());
				return System.nanoTime() - start > this.traits.ttl().multipliedBy(2).toNanos();
			});
		// A loaded machine may be late by itself, but not often
		assertThat(inTime).filteredOn((answer) -> !answer).hasSizeLessThanOrEqualTo(inTime.size() / 4);
		this.over.set(true);
		awaitEnd(attempts);
		Set<String> messages = new HashSet<>();
		for (Future<Set<String>> attempt : attempts) {
			messages.addAll(attempt.get());
		}
		return messages;
	}

	/** Renews meanwhile: nothing else keeps the session when the others have ended. */
	private void awaitEnd(List<? extends Future<?>> others) {
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(this.traits.ttl().dividedBy(20))
			.atMost(this.traits.ttl().multipliedBy(4))
			.until(() -> {
				isRenewedInTime();
				return others.stream().allMatch(Future::isDone);
			});
	}

	private boolean isRenewedInTime() {
		long sent = System.nanoTime();
		try {
			assertThat(Instances.renew(this.store, this.kept)).isEqualTo(Renewal.EXTENDED);
		}
		catch (LeaseStoreException ex) {
			return false;
		}
		return System.nanoTime() - sent < this.traits.callTimeout().toNanos();
	}

	private Set<String> attempts(JobId job) {
		Set<String> messages = new HashSet<>();
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(5))
			.atMost(this.traits.ttl().multipliedBy(5))
			.until(() -> {
				messages.add(attempt(job));
				return this.over.get();
			});
		assertThat(messages).doesNotContain("answered");
		return messages;
	}

	private String attempt(JobId job) {
		try {
			this.store.tryAcquire(this.instances.request(job, "stuck"));
			return "answered";
		}
		catch (LeaseStoreException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	private void assertNothingIsLeftBehind() {
		Awaitility.await().pollInSameThread().atMost(Duration.ofSeconds(5)).untilAsserted(() -> {
			isRenewedInTime();
			assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
		});
		for (int i = 0; i < STUCK_JOBS; i++) {
			JobId job = stuck(i);
			Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(job, "again")));
		}
	}

}
