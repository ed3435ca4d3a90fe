package io.github.singletonjob.etcd;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

import com.sun.management.OperatingSystemMXBean;
import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An etcd that is dead, frozen or restarted.
 */
@Timeout(60)
class EtcdOutageTests {

	private static final Duration TTL = Duration.ofSeconds(10);

	private final EtcdServer server = EtcdServer.create();

	private final Instances instances = new Instances(() -> Etcds.store(this.server),
			new StoreTraits(TTL, TTL, Duration.ofSeconds(2)));

	private final JobId job = this.instances.job("billing");

	private EtcdLeaseStore store;

	private LeaseGrant grant;

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@BeforeEach
	void acquire() {
		this.server.start();
		this.store = (EtcdLeaseStore) this.instances.open();
		this.grant = Instances
			.awaitGrant(() -> this.store.tryAcquire(Etcds.request(this.job, TTL, Duration.ofMillis(300))));
	}

	@AfterEach
	void close() throws Exception {
		this.instances.close();
		this.server.close();
	}

	@Test
	void leasesOutliveACrashOfEtcd() {
		this.server.kill();
		this.server.start();
		assertThat(Etcds.awaitRenewal(this.store, this.grant)).isEqualTo(Renewal.EXTENDED);
		assertThat(this.instances.isHeld(this.instances.open(), this.job)).isTrue();
	}

	/** gRPC alone would try again after 1, 2.6, 5.2 and 9.3 seconds. */
	@Test
	void aDeadEtcdCostsNothingAndIsUsedAgainAsSoonAsItIsBack() {
		this.server.kill();
		double share = cpuShareWhileAsking(Duration.ofSeconds(6));
		System.out.printf("CPU with a dead etcd: %.1f %%%n", share * 100);
		assertThat(share).isLessThan(0.5);
		this.server.start();
		long start = System.nanoTime();
		assertThat(Etcds.awaitRenewal(this.store, this.grant)).isEqualTo(Renewal.EXTENDED);
		Duration recovery = Duration.ofNanos(System.nanoTime() - start);
		System.out.println("Used again after " + recovery.toMillis() + " ms");
		assertThat(recovery).isLessThan(Duration.ofMillis(1800));
	}

	@Test
	void aFrozenEtcdCostsNothingAndIsUsedAgainAsSoonAsItIsBack() {
		int threads = Thread.activeCount();
		this.server.freeze();
		double share = cpuShareWhileAsking(Duration.ofMillis(1500));
		System.out.printf("CPU with a frozen etcd: %.1f %%%n", share * 100);
		assertThat(share).isLessThan(0.5);
		this.server.resume();
		long start = System.nanoTime();
		assertThat(Etcds.awaitRenewal(this.store, this.grant)).isEqualTo(Renewal.EXTENDED);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(1800));
		Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.instances.job("other"), "next")));
		assertThat(Thread.activeCount()).isLessThan(threads + 20);
	}

	/** Asks as often as the keeper of a run would, on the edge of its patience. */
	private double cpuShareWhileAsking(Duration time) {
		OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		LeaseRequest other = Etcds.request(this.instances.job("other"), TTL, Duration.ofMillis(300));
		long start = System.nanoTime();
		long cpu = system.getProcessCpuTime();
		Awaitility.await()
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(100))
			.atMost(Duration.ofSeconds(30))
			.until(() -> {
				assertUnknown(() -> Instances.renew(this.store, this.grant));
				assertUnknown(() -> this.store.tryAcquire(other));
				return System.nanoTime() - start > time.toNanos();
			});
		return (double) (system.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
	}

	private static void assertUnknown(Runnable call) {
		long start = System.nanoTime();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(call::run).withMessageNotContaining("\n");
		// The time of the call is 300 ms; without it this would take for as long as etcd
		// is away
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
	}

	@Test
	void aConnectionThatWasNotUsedForLongIsNotTrusted() {
		try (TcpProxy proxy = TcpProxy.to(this.server.port())) {
			EtcdEndpoints endpoints = new EtcdEndpoints(List.of("127.0.0.1:" + proxy.port()), null, null, null);
			EtcdConnection connection = EtcdConnection.to(endpoints, Duration.ofMillis(300));
			try (EtcdLeaseStore far = new EtcdLeaseStore(connection, Etcds.PREFIX)) {
				assertThat(this.instances.isHeld(far, this.job)).isTrue();
				assertThat(this.instances.isHeld(far, this.job)).isTrue();
				assertThat(proxy.connections()).isEqualTo(1);
				long start = System.nanoTime();
				Awaitility.await().until(() -> System.nanoTime() - start > Duration.ofMillis(400).toNanos());
				assertThat(this.instances.isHeld(far, this.job)).isTrue();
				assertThat(proxy.connections()).isEqualTo(2);
			}
		}
	}

	@Test
	void closingDoesNotWaitForAFrozenEtcd() {
		this.server.freeze();
		long start = System.nanoTime();
		this.store.close();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> this.store.tryAcquire(this.instances.request(this.job, "late")))
			.withMessageContaining("closed");
		this.server.resume();
	}

}
