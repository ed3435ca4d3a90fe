package io.github.singletonjob.simulation;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The runtime on virtual time, in several processes that crash, freeze, are suspended,
 * stopped and cut off, against model stores that differ as the real ones do. Each seed is
 * a schedule. {@code -Dtests.schedules=100000} runs more of them, and
 * {@code -Dtests.seed=…} begins with another one.
 */
@ExtendWith(QuietRuntime.class)
class SimulationTests {

	private static final long SCHEDULES = Long.getLong("tests.schedules", Schedules.IN_A_BUILD);

	private static final long FIRST_SEED = Long.getLong("tests.seed", 1);

	private static final List<String> HAPPENINGS = List.of("frozen for", "suspended for", "its wall clock steps",
			"is gone: ", "stops: ", "cut off the STORE", "down for", "has ended: EXPIRED", "has ended: EARLY", "told: ",
			"lost: ", "refused: ", "COMPLETED: ", "FAILED: ", "CANCELLED: ", "LOST: ", "SKIPPED_HELD",
			"SKIPPED_ALREADY_RAN", "POSTGRES, flaw=NONE", "REDIS, flaw=NONE", "ETCD, flaw=NONE");

	@Test
	void noScheduleBreaksAPromise() throws Exception {
		Map<Long, String> broken = new ConcurrentSkipListMap<>();
		int lanes = Runtime.getRuntime().availableProcessors();
		ExecutorService threads = Executors.newFixedThreadPool(lanes);
		try {
			List<Callable<Void>> work = IntStream.range(0, lanes)
				.mapToObj((lane) -> (Callable<Void>) () -> run(lane, lanes, broken))
				.toList();
			for (Future<Void> lane : threads.invokeAll(work)) {
				lane.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(broken).as(() -> "the first of " + broken.size() + ":\n" + trace(broken.keySet().iterator().next()))
			.isEmpty();
	}

	private static Void run(int lane, int lanes, Map<Long, String> broken) {
		try (Schedules schedules = new Schedules(Flaw.NONE.name())) {
			for (long seed = FIRST_SEED + lane; seed < FIRST_SEED + SCHEDULES; seed += lanes) {
				String violations = schedules.apply(seed);
				if (!violations.isEmpty()) {
					broken.put(seed, violations);
				}
			}
		}
		return null;
	}

	@Test
	void aSeedRepeatsItsSchedule() {
		List<String> first = traces(300);
		assertThat(traces(300)).isEqualTo(first);
		assertThat(first).doesNotHaveDuplicates();
	}

	/** Otherwise the first test would say little. */
	@Test
	void schedulesAreFullOfFaultsAndTheirConsequences() {
		List<String> traces = traces(300);
		assertThat(HAPPENINGS)
			.allSatisfy((happening) -> assertThat(traces.stream()).filteredOn((trace) -> trace.contains(happening))
				.as(happening)
				.hasSizeGreaterThan(5));
	}

	private static List<String> traces(int count) {
		try (Schedules schedules = new Schedules(Flaw.NONE.name())) {
			return LongStream.rangeClosed(1, count).mapToObj(schedules::trace).toList();
		}
	}

	private static String trace(long seed) {
		try (Schedules schedules = new Schedules(Flaw.NONE.name())) {
			return "seed " + seed + "\n" + schedules.trace(seed);
		}
	}

}
