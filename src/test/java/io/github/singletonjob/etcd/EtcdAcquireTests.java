package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.Client;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdApi;
import io.github.singletonjob.servers.EtcdServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What it costs to ask, and what is left of a grant that nobody heard of.
 */
@Timeout(60)
class EtcdAcquireTests {

	private static final Duration TTL = Duration.ofSeconds(2);

	private final StoreTraits traits = new StoreTraits(TTL, TTL, Duration.ofSeconds(1));

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
		this.instances = new Instances(() -> Etcds.store(EtcdServer.shared()), this.traits);
		this.job = this.instances.job("billing");
	}

	@AfterEach
	void closeInstances() throws Exception {
		this.instances.close();
	}

	@Test
	void aLosingAttemptWritesNothing() {
		this.instances.acquire(this.instances.open(), longRequest("billing"));
		LeaseStore idle = this.instances.open();
		LeaseStore busy = this.instances.open();
		this.instances.acquire(busy, longRequest("other"));
		long revision = this.etcd.revision();
		int leases = this.etcd.leases().size();
		for (int i = 0; i < 10; i++) {
			assertThat(this.instances.isHeld(idle, this.job)).isTrue();
			assertThat(this.instances.isHeld(busy, this.job)).isTrue();
		}
		assertThat(this.etcd.revision()).isEqualTo(revision);
		assertThat(this.etcd.leases()).hasSizeLessThanOrEqualTo(leases);
	}

	@Test
	void aGrantOnAnOldLeaseOfEtcdIsGoodForAWholeTimeToLive() {
		LeaseStore store = this.instances.open();
		LeaseStore other = this.instances.open();
		long first = System.nanoTime();
		this.instances.acquire(store, this.instances.job("other"));
		Awaitility.await().until(() -> System.nanoTime() - first > TTL.toNanos() * 7 / 10);
		long start = System.nanoTime();
		this.instances.acquire(store, this.job);
		assertThat(this.etcd.leasesOfKeys(Etcds.keysOf(this.job)).stream().distinct()).hasSize(1);
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(20))
			.until(() -> !this.instances.isHeld(other, this.job));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(TTL);
	}

	@Test
	void aGrantWhoseReplyIsLostIsGivenUpAtOnceIfEtcdCanBeReached() {
		LostReplies replies = new LostReplies();
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).interceptor(replies).build();
				EtcdLeaseStore store = new EtcdLeaseStore(EtcdConnection.of(client), Etcds.PREFIX)) {
			LeaseGrant kept = this.instances.acquire(store, longRequest("kept"));
			replies.lose(true);
			LeaseRequest request = longRequest("billing");
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> store.tryAcquire(request));
			replies.lose(false);
			LeaseStore other = this.instances.open();
			Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "next")));
			assertThat(Instances.renew(store, kept)).isEqualTo(Renewal.EXTENDED);
			// The job goes on with another lease of etcd, the old one takes no more keys
			this.instances.acquire(store, longRequest("third"));
			assertThat(this.etcd.leasesOfKeys(Etcds.keysOf(this.job)).stream().distinct()).hasSize(3);
		}
	}

	/** All on one lease of etcd, which does not end while the test goes on. */
	private LeaseRequest longRequest(String name) {
		return Etcds.request(this.instances.job(name), TTL.multipliedBy(10), this.traits.callTimeout());
	}

	/** A member that was frozen can write a key long after its caller has gone. */
	@Test
	void aGrantThatComesLateIsFoundByTheNextRenewal() throws Exception {
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		LeaseGrant kept = this.instances.acquire(store, longRequest("kept"));
		LeaseRequest late = this.instances.request(this.job, "late");
		Etcds.putAttached(EtcdServer.shared(), Etcds.keyOf(this.job), late.owner() + " 99\nlate",
				store.held(kept).lease().id());
		LeaseStore other = this.instances.open();
		assertThat(this.instances.isHeld(other, this.job)).isTrue();
		assertThat(Instances.renew(store, kept)).isEqualTo(Renewal.EXTENDED);
		Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "next")));
		assertThat(Instances.renew(store, kept)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void anInterruptedThreadGetsNothing() {
		LeaseStore store = this.instances.open();
		LeaseRequest request = this.instances.request(this.job, "interrupted");
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> store.tryAcquire(request))
			.withMessageContaining("interrupted");
		assertThat(Thread.interrupted()).isTrue();
		Instances.awaitGrant(() -> store.tryAcquire(this.instances.request(this.job, "next")));
	}

	@Test
	void jobsThatAskAtOnceShareOneLeaseOfEtcd() {
		LeaseStore store = this.instances.open();
		CompletableFuture<?>[] attempts = new CompletableFuture<?>[8];
		for (int i = 0; i < attempts.length; i++) {
			JobId each = this.instances.job("job " + i);
			attempts[i] = CompletableFuture.runAsync(() -> this.instances.acquire(store, each));
		}
		CompletableFuture.allOf(attempts).join();
		assertThat(this.etcd.leasesOfKeys(Etcds.keysOf(this.job))).hasSize(8);
		assertThat(this.etcd.leasesOfKeys(Etcds.keysOf(this.job)).stream().distinct()).hasSize(1);
	}

	@Test
	void aTimeToLiveIsRoundedUpToWholeSeconds() {
		EtcdLeaseStore store = (EtcdLeaseStore) this.instances.open();
		LeaseRequest request = new LeaseRequest(this.job, "owner", "holder", Duration.ofMillis(2001),
				Duration.ofSeconds(1), 0);
		HeldLease grant = store.held(this.instances.acquire(store, request));
		assertThat(this.etcd.post("lease/timetolive", "{\"ID\":\"" + grant.lease().id() + "\"}"))
			.contains("\"grantedTTL\":\"3\"");
	}

}
