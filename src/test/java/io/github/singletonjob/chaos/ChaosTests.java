package io.github.singletonjob.chaos;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A few runs with fixed seeds on each store, beside controls that have to do damage, all
 * at the same time. {@code ./verify chaos} makes more of them.
 */
@Timeout(900)
class ChaosTests {

	private static final int SERVERS = 2;

	/** A fault can come between two runs, but hardly each time. */
	private static final int TRIES = 16;

	@Test
	void nothingIsViolatedAndControlsDoDamage() {
		CompletableFuture<Campaign> unfenced = new Campaign(Mode.UNFENCED, StoreKind.REDIS, SERVERS)
			.startUntil((verdict) -> verdict.damage() > 0, tries(StoreKind.REDIS, FaultKind.FREEZE, 5000));
		CompletableFuture<Campaign> unconfirmed = new Campaign(Mode.UNCONFIRMED, StoreKind.POSTGRES, SERVERS)
			.startUntil((verdict) -> !verdict.halfDone().isEmpty(),
					tries(StoreKind.POSTGRES, FaultKind.SESSIONS_ENDED, 1));
		List<CompletableFuture<Campaign>> running = Stream.of(StoreKind.values())
			.map((store) -> new Campaign(Mode.FENCED, store, SERVERS).start(schedules(store)))
			.toList();
		List<Campaign> campaigns = running.stream().map(CompletableFuture::join).toList();
		assertThat(campaigns).as("wrong data: campaigns with damage")
			.filteredOn((campaign) -> campaign.total().damage() > 0)
			.isEmpty();
		assertThat(campaigns).as("wrong data: campaigns with other findings")
			.filteredOn((campaign) -> campaign.total().violations() > 0)
			.isEmpty();
		assertThat(unfenced.join().total().damage()).as("damage without the fence").isPositive();
		assertThat(unconfirmed.join().total().halfDone())
			.as("half done where a body that throws has completed its fire time")
			.isNotEmpty();
	}

	/** Of each store: the first seeds, and what hits leases and database at once. */
	private static List<Schedule> schedules(StoreKind store) {
		return List.of(Schedule.of(store, 1), Schedule.of(store, 2),
				Schedule.only(store, FaultKind.SESSIONS_ENDED, 1500, 1),
				Schedule.only(store, FaultKind.BOTH_RESTART, 1500, 1),
				Schedule.only(store, FaultKind.DATABASE_PROMOTION, 1000, 500));
	}

	private static List<Schedule> tries(StoreKind store, FaultKind kind, int length) {
		return Collections.nCopies(TRIES, Schedule.only(store, kind, 1000, length));
	}

}
