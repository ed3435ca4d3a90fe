package io.github.singletonjob.chaos;

import java.util.EnumSet;
import java.util.Set;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules and their seeds.
 */
class ScheduleTests {

	@ParameterizedTest
	@EnumSource
	void theSameSeedGivesTheSameSchedule(StoreKind store) {
		for (long seed = 0; seed < 1000; seed++) {
			assertThat(Schedule.of(store, seed)).isEqualTo(Schedule.of(store, seed));
		}
		assertThat(Schedule.of(store, 1).faults()).isNotEqualTo(Schedule.of(store, 2).faults());
	}

	@ParameterizedTest
	@EnumSource
	void eachKindOfFaultComesUp(StoreKind store) {
		Set<FaultKind> seen = EnumSet.noneOf(FaultKind.class);
		for (long seed = 1; seed <= FaultKind.of(store).size(); seed++) {
			Schedule.of(store, seed).faults().forEach((fault) -> seen.add(fault.kind()));
		}
		assertThat(seen).containsExactlyElementsOf(FaultKind.of(store));
	}

}
