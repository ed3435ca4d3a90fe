package io.github.singletonjob.chaos;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A few runs with fixed seeds on each store, all stores at the same time, beside some
 * that have to do damage without the fence. {@code ./verify chaos} makes more of them.
 */
@Timeout(900)
class ChaosTests {

	private static final int SERVERS = 2;

	private static final int RUNS = 2;

	/** From here on: a long pause, {@code kill -9}, each with others. */
	private static final long SEED = 1;

	/** A pause can hit the holder between two runs, but hardly each time. */
	private static final List<Schedule> PAUSES = Collections.nCopies(6,
			new Schedule(StoreKind.REDIS, 0, List.of(new Fault(FaultKind.FREEZE, 1000, 5000, true, 0))));

	@Test
	void nothingIsViolatedWithTheFenceAndPausesDoDamageWithoutIt() {
		Campaign control = new Campaign(Mode.UNFENCED, StoreKind.REDIS);
		List<Campaign> campaigns = List.of(new Campaign(Mode.FENCED, StoreKind.POSTGRES),
				new Campaign(Mode.FENCED, StoreKind.REDIS), new Campaign(Mode.FENCED, StoreKind.ETCD));
		CompletableFuture<Campaign> controlled = start(() -> control.run(SERVERS, PAUSES));
		List<CompletableFuture<Campaign>> running = campaigns.stream()
			.map((campaign) -> start(() -> campaign.run(SERVERS, RUNS, SEED)))
			.toList();
		running.forEach(CompletableFuture::join);
		assertThat(campaigns).as("campaigns with stale rows or doubles")
			.filteredOn((campaign) -> campaign.total().damage() > 0)
			.isEmpty();
		assertThat(campaigns).as("campaigns with other findings")
			.filteredOn((campaign) -> campaign.total().violations() > 0)
			.isEmpty();
		assertThat(controlled.join().total().damage()).as("damage without the fence").isPositive();
	}

	private static CompletableFuture<Campaign> start(Supplier<Campaign> campaign) {
		return CompletableFuture.supplyAsync(campaign, (task) -> new Thread(task, "chaos").start())
			.orTimeout(12, TimeUnit.MINUTES);
	}

}
