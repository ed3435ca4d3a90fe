package io.github.singletonjob.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code ./verify chaos [runs] [seed]} executes: a third of the runs on each store,
 * and the same schedules on the controls. Writes its figures to
 * {@code target/chaos-report.md}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 1, unit = TimeUnit.DAYS)
class ChaosTrials {

	private static final int SERVERS = 3;

	private final int runs = Math.max(1, Integer.getInteger("chaos.runs", 6) / StoreKind.values().length);

	private final long seed = Long.getLong("chaos.seed", 1);

	private final StringBuilder report = new StringBuilder();

	@Test
	@Order(1)
	void nothingIsViolatedWithTheFence() {
		List<Campaign> campaigns = run(
				Stream.of(StoreKind.values()).map((store) -> new Campaign(Mode.FENCED, store)).toList());
		assertThat(campaigns).as("campaigns with violations")
			.filteredOn((campaign) -> campaign.total().violations() > 0)
			.isEmpty();
	}

	@Test
	@Order(2)
	void onTheControlsTheSameSchedulesDoDamage() {
		List<Campaign> campaigns = new ArrayList<>(
				Stream.of(StoreKind.values()).map((store) -> new Campaign(Mode.UNFENCED, store)).toList());
		Campaign shedLock = new Campaign(Mode.SHEDLOCK, StoreKind.POSTGRES);
		campaigns.add(shedLock);
		run(campaigns);
		assertThat(shedLock.total().damage()).as("under ShedLock").isPositive();
		campaigns.remove(shedLock);
		assertThat(campaigns.stream().mapToInt((campaign) -> campaign.total().damage()).sum()).as("without the fence")
			.isPositive();
	}

	/** All at the same time, each on servers of its own: they wait most of the time. */
	private List<Campaign> run(List<Campaign> campaigns) {
		List<CompletableFuture<Campaign>> running = campaigns.stream()
			.map((campaign) -> CompletableFuture.supplyAsync(() -> campaign.run(SERVERS, this.runs, this.seed),
					(task) -> new Thread(task, "chaos").start()))
			.toList();
		running.forEach((campaign) -> this.report.append(campaign.orTimeout(1, TimeUnit.DAYS).join().table()));
		write();
		return campaigns;
	}

	private void write() {
		String columns = "| mode | store | fault | " + Tally.COLUMNS + " |";
		String line = columns.replaceAll("[^|]+", " --- ");
		try {
			Files.writeString(Path.of("target", "chaos-report.md"), columns + "\n" + line + "\n" + this.report);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
