package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdCluster;
import io.github.singletonjob.servers.EtcdServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three members, one of which fails.
 */
@Timeout(90)
class EtcdClusterTests {

	private static final Duration TTL = Duration.ofSeconds(6);

	private EtcdCluster cluster;

	private Instances instances;

	private JobId job;

	private EtcdLeaseStore store;

	private LeaseGrant grant;

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@BeforeEach
	void startAndAcquire() {
		this.cluster = EtcdCluster.start();
		this.instances = new Instances(() -> Etcds.store(this.cluster.endpoints()),
				new StoreTraits(TTL, TTL.multipliedBy(2), Duration.ofSeconds(2)));
		this.job = this.instances.job("billing");
		this.store = (EtcdLeaseStore) this.instances.open();
		this.grant = Instances
			.awaitGrant(() -> this.store.tryAcquire(Etcds.request(this.job, TTL, Duration.ofMillis(400))));
	}

	@AfterEach
	void close() throws Exception {
		this.instances.close();
		this.cluster.close();
	}

	@Test
	void aMemberThatDiesDoesNotEndALease() {
		EtcdServer follower = this.cluster.members()
			.stream()
			.filter((member) -> member != this.cluster.awaitLeader())
			.findFirst()
			.orElseThrow();
		follower.kill();
		keepFor(TTL);
	}

	@Test
	void aMemberThatIsSilentDoesNotEndALease() {
		EtcdServer follower = this.cluster.members()
			.stream()
			.filter((member) -> member != this.cluster.awaitLeader())
			.findFirst()
			.orElseThrow();
		follower.freeze();
		assertThat(keepFor(TTL)).as("renewals that failed").isLessThan(3);
	}

	/** One that was frozen for longer than a lease lasts does, in this version. */
	@Test
	void aLeaderThatIsFrozenForAShortTimeDoesNotEndALease() {
		EtcdServer leader = this.cluster.awaitLeader();
		leader.freeze();
		this.cluster.awaitLeaderOtherThan(leader);
		keepFor(Duration.ofSeconds(1));
		leader.resume();
		keepFor(Duration.ofSeconds(3));
	}

	@Test
	void aSilentHolderIsReplacedAfterAChangeOfLeader() {
		this.cluster.awaitLeader().kill();
		EtcdLeaseStore other = Etcds.unprobed(this.cluster.endpoints());
		try {
			LeaseGrant next = Awaitility.await()
				.pollInSameThread()
				.atMost(TTL.multipliedBy(4))
				.ignoreException(LeaseStoreException.class)
				.until(() -> Instances.awaitGrant(() -> other.tryAcquire(this.instances.request(this.job, "next"))),
						(any) -> true);
			assertThat(next.token()).isGreaterThan(this.grant.token());
			assertThat(Etcds.awaitRenewal(this.store, this.grant)).isEqualTo(Renewal.GONE);
		}
		finally {
			other.close();
		}
	}

	/** As the keeper does: it is lost if no renewal is confirmed for 7/10 of the time. */
	private int keepFor(Duration time) {
		long start = System.nanoTime();
		long[] confirmed = { start };
		int[] failed = { 0 };
		BooleanSupplier renewed = () -> {
			long sent = System.nanoTime();
			try {
				assertThat(Instances.renew(this.store, this.grant)).isEqualTo(Renewal.EXTENDED);
				confirmed[0] = sent;
			}
			catch (LeaseStoreException ex) {
				failed[0]++;
			}
			assertThat(System.nanoTime() - confirmed[0]).isLessThan(TTL.toNanos() * 7 / 10);
			return System.nanoTime() - start > time.toNanos();
		};
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(200))
			.atMost(Duration.ofSeconds(30))
			.until(renewed::getAsBoolean);
		return failed[0];
	}

}
