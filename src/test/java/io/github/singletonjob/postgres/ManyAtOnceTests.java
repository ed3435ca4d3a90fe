package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What waits is sent together, and waiting is not a failure.
 */
@Timeout(120)
class ManyAtOnceTests {

	private static final int JOBS = 500;

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1),
			Duration.ofSeconds(1));

	private final TcpProxy proxy = TcpProxy.to(Databases.server().port());

	private final Instances instances = new Instances(() -> Databases.store(this.proxy.through(this.url)), this.traits);

	private final LeaseStore store = this.instances.open();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() throws Exception {
		this.threads.shutdownNow();
		this.proxy.pass();
		this.instances.close();
		this.proxy.close();
	}

	@Test
	void differentJobsAreAllGrantedInTheTimeOfACall() throws Exception {
		this.store.release(this.instances.acquire(this.store, this.instances.job("opens the session")));
		this.proxy.delay(Duration.ofMillis(2));
		CountDownLatch start = new CountDownLatch(1);
		List<Future<Boolean>> runs = new ArrayList<>();
		for (int i = 0; i < JOBS; i++) {
			JobId job = this.instances.job("job " + i);
			runs.add(this.threads.submit(() -> {
				start.await();
				LeaseGrant grant = this.instances.acquire(this.store, job);
				return this.store.release(grant);
			}));
		}
		start.countDown();
		for (Future<Boolean> run : runs) {
			assertThat(run.get(60, TimeUnit.SECONDS)).isTrue();
		}
		assertThat(Databases.advisoryLocks(this.url)).isZero();
	}

	@Test
	void anAttemptAfterOneThatTimedOutWaitsForWhatBecameOfIt() {
		this.instances.acquire(this.store, this.instances.job("kept"));
		JobId job = this.instances.job("billing");
		this.proxy.hangReplies();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> this.instances.isHeld(this.store, job));
		Future<?> restored = this.threads.submit(() -> {
			// As soon as the next attempt waits
			Awaitility.await().pollDelay(this.traits.callTimeout().dividedBy(3)).until(() -> true);
			this.proxy.pass();
			return null;
		});
		assertThat(this.store.tryAcquire(this.instances.request(job, "again")))
			.isInstanceOf(Acquisition.Acquired.class);
		assertThat(restored).succeedsWithin(Duration.ofSeconds(5));
	}

	@Test
	void looksAtManyJobsAreOneRoundTrip() {
		PostgresLeaseStore looking = (PostgresLeaseStore) this.store;
		List<JobId> jobs = IntStream.range(0, 2_000).mapToObj((i) -> this.instances.job("job " + i)).toList();
		LeaseGrant grant = this.instances.acquire(this.store, jobs.get(7));
		int before = this.proxy.roundTrips();
		Map<JobId, LeaseRecord> records = looking.inspect(jobs, Duration.ofSeconds(5));
		assertThat(this.proxy.roundTrips() - before).isEqualTo(1);
		assertThat(records).hasSize(2_000);
		assertThat(records.get(jobs.get(7)).held()).isTrue();
		assertThat(records.get(jobs.get(7)).token()).isEqualTo(grant.token());
		assertThat(records.get(jobs.get(8)).held()).isFalse();
	}

}
