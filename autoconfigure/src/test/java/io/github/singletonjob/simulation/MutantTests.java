package io.github.singletonjob.simulation;

import java.util.List;

import io.github.singletonjob.simulation.ChangedRuntime.LoadedSchedules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The control of {@link SimulationTests}: with any safety rule taken out, one of the
 * schedules that it runs breaks the promise that the rule is for.
 */
@ExtendWith(QuietRuntime.class)
class MutantTests {

	@ParameterizedTest
	@MethodSource("mutants")
	void aBrokenRuleIsNoticed(Mutant mutant) throws Exception {
		try (LoadedSchedules schedules = ChangedRuntime.schedules(mutant)) {
			long seed = 1;
			while (seed <= Schedules.IN_A_BUILD && !schedules.run(seed).contains(mutant.promise())) {
				seed++;
			}
			assertThat(seed).as("the seed that notices: %s", mutant).isLessThanOrEqualTo(Schedules.IN_A_BUILD);
		}
	}

	static List<Mutant> mutants() {
		return Mutants.all();
	}

	@Test
	void theUnchangedSourcesBreakNoPromise() throws Exception {
		try (LoadedSchedules schedules = ChangedRuntime.unchanged()) {
			for (long seed = 1; seed <= 500; seed++) {
				assertThat(schedules.run(seed)).as("seed %s", seed).isEmpty();
			}
		}
	}

	@Test
	void aRuleWhoseTextIsGoneIsAnError() {
		Mutant mutant = Mutant.of("a rule", "a promise").change("RenewalLane", "there is no such text", "");
		assertThatIllegalStateException().isThrownBy(() -> ChangedRuntime.schedules(mutant))
			.withMessageContaining("must be written anew");
	}

}
