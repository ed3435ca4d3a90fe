package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdApi;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which leases go on, and at what cost.
 */
@Timeout(60)
class RenewalTests {

	private static final Duration TTL = Duration.ofSeconds(2);

	private EtcdApi etcd;

	private Instances instances;

	private EtcdLeaseStore store;

	private JobId job;

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@BeforeEach
	void openInstances() {
		this.etcd = EtcdServer.shared().api();
		this.instances = new Instances(() -> Etcds.store(EtcdServer.shared()),
				new StoreTraits(TTL, TTL, Duration.ofSeconds(2)));
		this.store = (EtcdLeaseStore) this.instances.open();
		this.job = this.instances.job("billing");
	}

	@AfterEach
	void closeInstances() throws Exception {
		this.instances.close();
	}

	@Test
	void anOperatorTakesOneJobAway() {
		LeaseGrant taken = this.instances.acquire(this.store, this.job);
		LeaseGrant other = this.instances.acquire(this.store, this.instances.job("other"));
		this.etcd.delete(Etcds.keyOf(this.job));
		assertThat(this.store.renew(List.of(taken, other))).containsExactly(Renewal.GONE, Renewal.EXTENDED);
		assertThat(this.store.release(taken)).isFalse();
		assertThat(this.etcd.keys(Etcds.keysOf(this.job))).hasSize(1);
	}

	@Test
	void aKeyThatSomebodyElseHasWrittenIsNotOurs() {
		LeaseGrant late = this.instances.acquire(this.store, this.job);
		this.etcd.delete(Etcds.keyOf(this.job));
		this.etcd.put(Etcds.keyOf(this.job), "an operator");
		assertThat(Instances.renew(this.store, late)).isEqualTo(Renewal.GONE);
		assertThat(this.store.release(late)).isFalse();
		assertThat(this.instances.isHeld(this.store, this.job)).isTrue();
		this.etcd.delete(Etcds.keyOf(this.job));
	}

	@Test
	void aJobThatWasTakenAwayAndGrantedAgainHereIsTheNewGrantsAlone() {
		LeaseGrant taken = this.instances.acquire(this.store, this.job);
		SharedLease lease = this.store.held(taken).lease();
		this.etcd.delete(Etcds.keyOf(this.job));
		LeaseGrant next = this.instances.acquire(this.store, this.job);
		assertThat(this.store.held(next).lease()).isSameAs(lease);
		assertThat(this.store.renew(List.of(taken, next))).containsExactly(Renewal.GONE, Renewal.EXTENDED);
		assertThat(this.store.release(taken)).isFalse();
		assertThat(Instances.renew(this.store, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void aRevokedLeaseOfEtcdEndsAllItsJobs() {
		LeaseGrant first = this.instances.acquire(this.store, this.job);
		LeaseGrant second = this.instances.acquire(this.store, this.instances.job("other"));
		this.etcd.revoke(this.store.held(first).lease().id());
		assertThat(this.store.renew(List.of(first, second))).containsExactly(Renewal.GONE, Renewal.GONE);
		LeaseGrant next = this.instances.acquire(this.store, this.job);
		assertThat(next.token()).isGreaterThan(first.token());
		assertThat(Instances.renew(this.store, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void aLeaseOfEtcdThatEndedUnnoticedDoesNotEndTheNextAttempt() {
		LeaseGrant first = this.instances.acquire(this.store, this.job);
		this.etcd.revoke(this.store.held(first).lease().id());
		assertThat(Instances.renew(this.store, this.instances.acquire(this.store, this.job)))
			.isEqualTo(Renewal.EXTENDED);
		assertThat(Instances.renew(this.store, first)).isEqualTo(Renewal.GONE);
	}

	@Test
	void aLateHolderCanNeitherRenewNorRelease() {
		LeaseGrant late = this.instances.acquire(this.store, this.job);
		EtcdLeaseStore other = (EtcdLeaseStore) this.instances.open();
		this.etcd.delete(Etcds.keyOf(this.job));
		LeaseGrant next = this.instances.acquire(other, this.job);
		assertThat(Instances.renew(this.store, late)).isEqualTo(Renewal.GONE);
		assertThat(this.store.release(late)).isFalse();
		assertThat(Instances.renew(other, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void aLostReplyIsNoLoss() {
		try (TcpProxy proxy = TcpProxy.to(EtcdServer.shared().port()); EtcdLeaseStore far = Etcds.store(proxy)) {
			LeaseGrant grant = Instances
				.awaitGrant(() -> far.tryAcquire(Etcds.request(this.job, TTL, Duration.ofMillis(300))));
			proxy.hangReplies();
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> Instances.renew(far, grant))
					.withMessageNotContaining("\n");
			}
			proxy.pass();
			assertThat(Etcds.awaitRenewal(far, grant)).isEqualTo(Renewal.EXTENDED);
		}
	}

	/** Also with the application's own client. */
	@Test
	void aThousandLeasesAreRenewedByTwoCalls() throws Exception {
		CountedCalls calls = new CountedCalls();
		try (Client client = Client.builder().endpoints(EtcdServer.shared().endpoint()).interceptor(calls).build();
				EtcdLeaseStore many = new EtcdLeaseStore(EtcdConnection.of(client), Etcds.PREFIX)) {
			many.probe("tests");
			List<LeaseGrant> grants = new ArrayList<>();
			for (int i = 0; i < 1000; i++) {
				grants.add(this.instances.acquire(many,
						Etcds.request(this.instances.job("job " + i), Duration.ofSeconds(10), Duration.ofSeconds(2))));
			}
			calls.clear();
			long start = System.nanoTime();
			assertThat(many.renew(grants)).isEqualTo(Collections.nCopies(1000, Renewal.EXTENDED));
			System.out.printf("1,000 leases renewed in %d ms%n",
					TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
			assertThat(calls.names()).containsExactlyInAnyOrder("etcdserverpb.KV/Range",
					"etcdserverpb.Lease/LeaseKeepAlive");
			assertThat(this.etcd.leasesOfKeys(Etcds.keysOf(this.job)).stream().distinct()).hasSize(1);
			many.close();
			assertThat(client.getKVClient().get(KeyNames.bytes("x")).get(5, TimeUnit.SECONDS).getKvs()).isEmpty();
		}
		assertThat(this.etcd.keys(Etcds.keysOf(this.job))).isEmpty();
	}

}
