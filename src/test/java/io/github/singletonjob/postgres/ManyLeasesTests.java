package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.TcpProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a thousand leases of one instance cost.
 */
@Timeout(120)
class ManyLeasesTests {

	private static final Duration ONE_WAY = Duration.ofMillis(100);

	private static final Duration ROUND_TRIP = ONE_WAY.multipliedBy(2);

	private static final Duration TTL = Duration.ofSeconds(60);

	@Test
	void aThousandAreRenewedByOneRoundTrip() throws Exception {
		try (TcpProxy proxy = TcpProxy.to(Databases.server().port());
				PostgresLeaseStore store = Databases.store(proxy.through(Databases.create()));
				Instances instances = new Instances(() -> store, new StoreTraits(TTL, TTL, Duration.ofSeconds(10)))) {
			List<LeaseGrant> grants = new ArrayList<>();
			for (int i = 0; i < 1000; i++) {
				grants.add(instances.acquire(store, instances.job("job " + i)));
			}
			assertThat(store.renew(grants)).isEqualTo(Collections.nCopies(1000, Renewal.EXTENDED));
			proxy.delay(ONE_WAY);
			int before = proxy.roundTrips();
			long start = System.nanoTime();
			List<Renewal> answers = store.renew(grants);
			Duration took = Duration.ofNanos(System.nanoTime() - start);
			int roundTrips = proxy.roundTrips() - before;
			System.out.printf("1,000 leases renewed in Postgres: %d round trip(s), %d ms with %d ms of network%n",
					roundTrips, took.toMillis(), ROUND_TRIP.toMillis());
			assertThat(answers).isEqualTo(Collections.nCopies(1000, Renewal.EXTENDED));
			assertThat(roundTrips).isEqualTo(1);
			// One after the other they would take more than three minutes
			assertThat(took).isBetween(ROUND_TRIP, ROUND_TRIP.multipliedBy(10));
			proxy.pass();
		}
	}

}
