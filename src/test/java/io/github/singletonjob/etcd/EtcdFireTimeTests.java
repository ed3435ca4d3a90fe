package io.github.singletonjob.etcd;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.etcd.jetcd.Client;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdApi;
import io.github.singletonjob.servers.EtcdServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is kept of fire times, whoever asks at the same time and whatever reply is lost.
 */
@Timeout(90)
class EtcdFireTimeTests {

	private static final Duration TTL = Duration.ofSeconds(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** How long others may hold a job that ends at once. */
	private static final Duration PATIENCE = Duration.ofSeconds(15);

	private final Instant one = Instant.now().truncatedTo(ChronoUnit.DAYS);

	private EtcdApi etcd;

	private Instances instances;

	private JobId job;

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@BeforeEach
	void openInstances() {
		this.etcd = EtcdServer.shared().api();
		this.instances = new Instances(() -> Etcds.store(EtcdServer.shared()),
				new StoreTraits(TTL, TTL, TIMEOUT, false));
		this.job = this.instances.job("billing");
	}

	@AfterEach
	void closeInstances() throws Exception {
		this.instances.close();
	}

	private LeaseRequest request(Instant fireTime, Duration timeout) {
		return Etcds.request(this.job, TTL, timeout).forFiring(new Firing("", fireTime, true));
	}

	@Test
	void eachIsGrantedOnceToInstancesThatAskAtTheSameTime() {
		List<LeaseStore> stores = List.of(this.instances.open(), this.instances.open(), this.instances.open());
		ConcurrentLinkedQueue<Instant> ran = new ConcurrentLinkedQueue<>();
		List<Instant> fireTimes = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			Instant fireTime = this.one.plusSeconds(i);
			fireTimes.add(fireTime);
			CompletableFuture
				.allOf(stores.stream()
					.map((store) -> CompletableFuture.runAsync(() -> fire(store, fireTime, ran)))
					.toArray(CompletableFuture[]::new))
				.join();
		}
		assertThat(ran).containsExactlyElementsOf(fireTimes);
	}

	/** A job that is so short that others ask while it ends. */
	private void fire(LeaseStore store, Instant fireTime, ConcurrentLinkedQueue<Instant> ran) {
		LeaseRequest request = request(fireTime, TIMEOUT);
		Acquisition answer = store.tryAcquire(request);
		long start = System.nanoTime();
		while (answer instanceof Acquisition.Held && System.nanoTime() - start < PATIENCE.toNanos()) {
			answer = store.tryAcquire(request);
		}
		assertThat(answer).as("after " + PATIENCE).isNotInstanceOf(Acquisition.Held.class);
		if (answer instanceof Acquisition.Acquired acquired) {
			ran.add(fireTime);
			assertThat(store.release(acquired.grant(), fireTime)).isTrue();
		}
	}

	@Test
	void anAttemptWithNothingToRunWritesNothing() {
		LeaseStore store = this.instances.open();
		store.release(this.instances.acquire(store, request(this.one, TIMEOUT)), this.one);
		LeaseStore idle = this.instances.open();
		long revision = this.etcd.revision();
		int leases = this.etcd.leases().size();
		assertThat(idle.tryAcquire(request(this.one, TIMEOUT))).isEqualTo(new Acquisition.AlreadyRan(this.one));
		assertThat(idle.inspect(this.job, TIMEOUT).held()).isFalse();
		assertThat(this.etcd.revision()).isEqualTo(revision);
		assertThat(this.etcd.leases()).hasSizeLessThanOrEqualTo(leases);
	}

	@Test
	void whatWasSeenBeforeSomebodyElseRanDoesNotCount() throws Exception {
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		LeaseGrant first = this.instances.acquire(store, request(this.one, TIMEOUT));
		Plan late = new Plan(new KnownJob(null, null, 0, JobRecord.NONE), JobRecord.NONE.held(), null);
		long lease = store.held(first).lease().id();
		assertThat(store.release(first, this.one)).isTrue();
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).build()) {
			Attempt attempt = Attempt.of(request(this.one, TIMEOUT), new KeyNames(Etcds.PREFIX), 1);
			assertThat(KeyTxns.take(client.getKVClient(), attempt, late, lease).get().isSucceeded()).isFalse();
		}
		assertThat(this.etcd.keys(Etcds.keyOf(this.job))).isEmpty();
	}

	@Test
	void aGrantThatNobodyHeardOfLeavesThemAsTheyWere() {
		LostReplies replies = new LostReplies();
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).interceptor(replies).build();
				EtcdLeaseStore store = new EtcdLeaseStore(EtcdConnection.of(client), Etcds.PREFIX)) {
			store.release(this.instances.acquire(store, request(this.one, TIMEOUT)), this.one);
			Instant two = this.one.plusSeconds(60);
			long revision = this.etcd.revision();
			replies.lose(true);
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(() -> store.tryAcquire(request(two, Duration.ofMillis(500))));
			replies.lose(false);
			LeaseStore other = this.instances.open();
			LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(request(two, TIMEOUT)));
			assertThat(this.etcd.revision()).as("granted, undone, granted").isGreaterThanOrEqualTo(revision + 3);
			assertThat(next.fireTime().takeover()).isFalse();
			assertThat(next.followsUnreleased()).isFalse();
		}
	}

	@Test
	void aReleaseWhoseReplyIsLostIsRecorded() {
		LostReplies replies = new LostReplies();
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).interceptor(replies).build();
				EtcdLeaseStore store = new EtcdLeaseStore(EtcdConnection.of(client), Etcds.PREFIX)) {
			LeaseGrant grant = this.instances.acquire(store, request(this.one, Duration.ofMillis(500)));
			replies.lose(true);
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> store.release(grant, this.one));
			replies.lose(false);
			assertThat(store.inspect(this.job, TIMEOUT).fireTimes())
				.isEqualTo(Map.of("", new FireTimes(this.one, this.one)));
		}
	}

	@Test
	void aReleaseThatDidNotArriveIsMadeUpForByTheNextRenewal() {
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		HeldLease kept = store
			.held(this.instances.acquire(store, Etcds.request(this.instances.job("kept"), TTL, TIMEOUT)));
		HeldLease ending = store.held(this.instances.acquire(store, request(this.one, TIMEOUT)));
		ending.complete(this.one);
		HeldLeases leases = new HeldLeases();
		leases.add(kept);
		leases.ending(ending);
		try (EtcdConnection connection = Etcds.connection(EtcdServer.shared())) {
			new RenewalRound(connection, new KeyNames(Etcds.PREFIX), leases, List.of(kept)).perform();
			LeaseStore other = this.instances.open();
			LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(Etcds.request(this.job, TTL, TIMEOUT)));
			assertThat(next.followsUnreleased()).isFalse();
			assertThat(other.inspect(this.job, TIMEOUT).fireTimes())
				.isEqualTo(Map.of("", new FireTimes(this.one, this.one)));
		}
		assertThat(Instances.renew(store, kept.grant())).isEqualTo(Renewal.EXTENDED);
	}

}
