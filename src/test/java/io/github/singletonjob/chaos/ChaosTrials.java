package io.github.singletonjob.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code ./verify chaos [runs] [seed]} executes: a third of the runs on each store,
 * and the same schedules on the controls. Writes its figures to
 * {@code target/chaos-report.md}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ChaosTrials {

	private static final int SERVERS = 3;

	private final int runs = Math.max(1, Integer.getInteger("chaos.runs", 6) / StoreKind.values().length);

	private final long seed = Long.getLong("chaos.seed", 1);

	private final Map<Mode, StringBuilder> tables = new EnumMap<>(Mode.class);

	@Test
	@Order(1)
	void nothingIsViolatedWithTheFence() {
		int violations = 0;
		for (StoreKind store : StoreKind.values()) {
			violations += run(Mode.FENCED, store).violations();
		}
		assertThat(violations).as("violations").isZero();
	}

	@Test
	@Order(2)
	void withoutTheFenceTheSameSchedulesDoDamage() {
		int damage = 0;
		for (StoreKind store : StoreKind.values()) {
			damage += run(Mode.UNFENCED, store).damage();
		}
		assertThat(damage).as("damage").isPositive();
	}

	@Test
	@Order(3)
	void underShedLockTheSameSchedulesDoDamage() {
		assertThat(run(Mode.SHEDLOCK, StoreKind.POSTGRES).damage()).as("damage").isPositive();
	}

	private Tally run(Mode mode, StoreKind store) {
		Campaign campaign = new Campaign(mode, store).run(SERVERS, this.runs, this.seed);
		this.tables.computeIfAbsent(mode, (key) -> new StringBuilder()).append(campaign.table());
		report();
		return campaign.total();
	}

	private void report() {
		String columns = "| mode | store | fault | " + Tally.COLUMNS + " |";
		String line = columns.replaceAll("[^|]+", " --- ");
		try {
			Files.writeString(Path.of("target", "chaos-report.md"),
					columns + "\n" + line + "\n" + String.join("", this.tables.values()));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
