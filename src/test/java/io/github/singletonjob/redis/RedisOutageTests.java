package io.github.singletonjob.redis;

import java.lang.management.ManagementFactory;
import java.time.Duration;

import com.sun.management.OperatingSystemMXBean;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis that is frozen or gone costs nothing, and nobody has to do anything when it is
 * back.
 */
class RedisOutageTests {

	private static final Duration CALL_TIMEOUT = Duration.ofMillis(300);

	private static final Duration OUTAGE = Duration.ofMillis(1500);

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private final RedisServer server = RedisServer.create();

	private final JobId job = Stores.job("billing");

	private RedisLeaseStore store;

	private LeaseGrant grant;

	@BeforeEach
	void open() {
		this.store = Stores.open(this.server.start());
		this.grant = Stores.acquire(this.store, this.job, CALL_TIMEOUT);
	}

	@AfterEach
	void close() {
		this.store.close();
		this.server.close();
	}

	private Renewal renewed() {
		try {
			return renew(this.store, this.grant);
		}
		catch (LeaseStoreException ex) {
			return Renewal.UNKNOWN;
		}
	}

	/** As the runtime does it, and a bit more often. */
	private double coresUsedWhileRenewing() {
		long start = System.nanoTime();
		long cpu = SYSTEM.getProcessCpuTime();
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(50))
			.atMost(OUTAGE.multipliedBy(3))
			.until(() -> {
				assertThat(renewed()).isEqualTo(Renewal.UNKNOWN);
				return System.nanoTime() - start > OUTAGE.toNanos();
			});
		double cores = (double) (SYSTEM.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
		System.out.printf("Cores used without a Redis: %.3f%n", cores);
		return cores;
	}

	private Renewal awaitAnswer() {
		return Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.atMost(Duration.ofSeconds(10))
			.until(this::renewed, (answer) -> answer != Renewal.UNKNOWN);
	}

	@Test
	void aFrozenRedisCostsNothing() {
		this.server.freeze();
		assertThat(coresUsedWhileRenewing()).isLessThan(0.4);
		this.server.resume();
		assertThat(awaitAnswer()).isEqualTo(Renewal.EXTENDED);
		assertThat(this.store.release(this.grant)).isTrue();
	}

	@Test
	void aDeadRedisCostsNothing() {
		this.server.kill();
		assertThat(coresUsedWhileRenewing()).isLessThan(0.4);
		this.server.start();
		assertThat(awaitAnswer()).isEqualTo(Renewal.GONE);
		assertThat(Stores.acquire(this.store, this.job).token()).isGreaterThan(this.grant.token());
	}

	@Test
	void aServerThatBecameAReplicaIsNotAsked() {
		try (RedisServer primary = RedisServer.create().start()) {
			this.server.replicaOf(primary);
			assertThat(renewed()).isNotEqualTo(Renewal.EXTENDED);
			this.server.promote();
			assertThat(awaitAnswer()).isEqualTo(Renewal.GONE);
			Stores.acquire(this.store, this.job);
		}
	}

	@Test
	void callsFailAtOnceOnAStoreThatIsClosed() {
		this.store.close();
		assertThat(renewed()).isEqualTo(Renewal.UNKNOWN);
	}

}
