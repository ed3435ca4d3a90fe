package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.servers.EtcdServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Many runs leave nothing.
 */
@Timeout(90)
class LeakTests {

	private static final Duration TTL = Duration.ofSeconds(5);

	private static final int ROUNDS = 5000;

	@BeforeAll
	static void requireEtcd() {
		assumeTrue(EtcdServer.isAvailable());
	}

	@Test
	void roundsWithRacingRenewalsLeaveNoKeyAndNoLease() {
		try (EtcdServer server = EtcdServer.create().start()) {
			EtcdLeaseStore store = Etcds.store(server);
			Queue<LeaseGrant> held = new ConcurrentLinkedQueue<>();
			CompletableFuture<?>[] workers = new CompletableFuture<?>[4];
			for (int i = 0; i < workers.length; i++) {
				JobId job = new JobId("leaks", "job " + i);
				workers[i] = CompletableFuture.runAsync(() -> work(store, job, held, ROUNDS / workers.length));
			}
			CompletableFuture<Void> all = CompletableFuture.allOf(workers);
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(Duration.ofMillis(1))
				.atMost(TTL.multipliedBy(12))
				.until(() -> {
					List<LeaseGrant> grants = List.copyOf(held);
					if (!grants.isEmpty()) {
						store.renew(grants);
					}
					return all.isDone();
				});
			all.join();
			assertThat(server.api().keys("singleton-job/")).hasSize(workers.length)
				.allMatch((key) -> key.startsWith("singleton-job/leaks/record/"));
			assertThat(server.api().leases()).hasSize(1);
			store.close();
			assertThat(server.api().leases()).isEmpty();
		}
	}

	private static void work(EtcdLeaseStore store, JobId job, Queue<LeaseGrant> held, int rounds) {
		long last = 0;
		for (int i = 0; i < rounds; i++) {
			Acquisition answer = store.tryAcquire(Etcds.request(job, TTL, Duration.ofSeconds(5)));
			assertThat(answer).isInstanceOf(Acquisition.Acquired.class);
			LeaseGrant grant = ((Acquisition.Acquired) answer).grant();
			assertThat(grant.token()).isGreaterThan(last);
			last = grant.token();
			held.add(grant);
			assertThat(store.release(grant)).as("release of round " + i).isTrue();
			held.remove(grant);
		}
	}

}
