package io.github.singletonjob.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
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

	/** So often a control tries to do the damage that it is there for. */
	private static final int TRIES = 10;

	private final int runs = Math.max(1, Integer.getInteger("chaos.runs", 6) / StoreKind.values().length);

	private final long seed = Long.getLong("chaos.seed", 1);

	private final StringBuilder report = new StringBuilder();

	@Test
	@Order(1)
	void nothingIsViolatedWithTheFence() {
		List<Campaign> campaigns = await(
				Stream.of(StoreKind.values()).map((store) -> start(Mode.FENCED, store)).toList());
		assertThat(campaigns).as("campaigns with violations")
			.filteredOn((campaign) -> campaign.total().violations() > 0)
			.isEmpty();
	}

	@Test
	@Order(2)
	void onTheControlsTheSameSchedulesDoDamage() {
		List<CompletableFuture<Campaign>> running = new ArrayList<>(
				Stream.of(StoreKind.values()).map((store) -> start(Mode.UNFENCED, store)).toList());
		running.add(start(Mode.SHEDLOCK, StoreKind.POSTGRES));
		List<Campaign> controls = await(running);
		Campaign shedLock = controls.remove(controls.size() - 1);
		assertThat(shedLock.total().damage()).as("under ShedLock").isPositive();
		assertThat(controls.stream().mapToInt((campaign) -> campaign.total().damage()).sum()).as("without the fence")
			.isPositive();
	}

	/** One fault that shows what it is for, until it does. */
	@Test
	@Order(3)
	void eachKindOfDamageHasAControlThatDoesIt() {
		CompletableFuture<Campaign> stale = tries(Mode.UNFENCED, StoreKind.REDIS, FaultKind.FREEZE, 5000,
				(verdict) -> verdict.staleCommits() > 0 && verdict.doubles() > 0);
		CompletableFuture<Campaign> halfDone = tries(Mode.UNCONFIRMED, StoreKind.POSTGRES, FaultKind.SESSIONS_ENDED, 1,
				(verdict) -> !verdict.halfDone().isEmpty());
		CompletableFuture<Campaign> repeated = tries(Mode.SHEDLOCK, StoreKind.POSTGRES, FaultKind.DATABASE_PROMOTION,
				1000, (verdict) -> !verdict.repeatedTokens().isEmpty());
		await(List.of(stale, halfDone, repeated));
		assertThat(stale.join().total().staleCommits()).as("stale commits without the fence").isPositive();
		assertThat(stale.join().total().doubles()).as("doubles without the fence").isPositive();
		assertThat(halfDone.join().total().halfDone())
			.as("half done where a body that throws has completed its fire time")
			.isNotEmpty();
		assertThat(repeated.join().total().repeatedTokens()).as("numbers that a promoted database hands out again")
			.isNotEmpty();
	}

	private CompletableFuture<Campaign> start(Mode mode, StoreKind store) {
		return new Campaign(mode, store, SERVERS).start(Campaign.schedules(store, this.seed, this.runs));
	}

	private static CompletableFuture<Campaign> tries(Mode mode, StoreKind store, FaultKind kind, int length,
			Predicate<Verdict> wanted) {
		return new Campaign(mode, store, SERVERS).startUntil(wanted,
				Collections.nCopies(TRIES, Schedule.only(store, kind, 1000, length)));
	}

	/** All at the same time, each on servers of its own: they wait most of the time. */
	private List<Campaign> await(List<CompletableFuture<Campaign>> running) {
		List<Campaign> campaigns = new ArrayList<>();
		running.forEach((each) -> campaigns.add(each.join()));
		campaigns.forEach((campaign) -> this.report.append(campaign.table()));
		write();
		return campaigns;
	}

	private void write() {
		String columns = "| mode | store | fault | " + Verdict.COLUMNS + " |";
		String line = columns.replaceAll("[^|]+", " --- ");
		try {
			Files.writeString(Path.of("target", "chaos-report.md"), columns + "\n" + line + "\n" + this.report);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
