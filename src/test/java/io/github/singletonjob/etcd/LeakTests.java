package io.github.singletonjob.etcd;

import java.time.Duration;

import io.github.singletonjob.contract.RacingRenewals;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.servers.EtcdServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many runs leave nothing.
 */
@Timeout(1500)
class LeakTests {

	private static final Duration TTL = Duration.ofSeconds(5);

	@BeforeAll
	static void requireEtcd() {
		EtcdServer.assumeAvailable();
	}

	@Test
	void roundsWithRacingRenewalsLeaveNoKeyAndNoLease() {
		try (EtcdServer server = EtcdServer.create().start()) {
			EtcdLeaseStore store = Etcds.store(server);
			RacingRenewals.race(store, (worker) -> Etcds.request(new JobId("leaks", "job " + worker), TTL, TTL), 2500);
			assertThat(server.api().keys("singleton-job/")).hasSize(4)
				.allMatch((key) -> key.startsWith("singleton-job/leaks/record/"));
			assertThat(server.api().leases()).hasSize(1);
			store.close();
			assertThat(server.api().leases()).isEmpty();
		}
	}

}
