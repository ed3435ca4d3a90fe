package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Runs on one company, one after the other, while its processes live on.
 */
final class Campaign {

	private static final Duration START = Duration.ofMinutes(2);

	private final Map<FaultKind, Tally> tallies = new EnumMap<>(FaultKind.class);

	private final Tally total = new Tally();

	private List<Happening> before = List.of();

	private final Mode mode;

	private final StoreKind store;

	Campaign(Mode mode, StoreKind store) {
		this.mode = mode;
		this.store = store;
	}

	/**
	 * Runs the schedules of consecutive seeds.
	 * @param servers how many
	 * @param runs how many
	 * @param seed the first one
	 * @return this
	 */
	Campaign run(int servers, int runs, long seed) {
		return run(servers,
				LongStream.range(seed, seed + runs).mapToObj((each) -> Schedule.of(this.store, each)).toList());
	}

	Campaign run(int servers, List<Schedule> schedules) {
		try (Company company = new Company(this.mode, this.store, servers)) {
			if (!new Recovery(company, company.books().mark()).await(START)) {
				throw new IllegalStateException("The servers do not start: "
						+ company.seats().stream().map((seat) -> String.join("\n", seat.process().lines())).toList());
			}
			schedules.forEach((schedule) -> run(company, schedule));
		}
		return this;
	}

	private void run(Company company, Schedule schedule) {
		Trial trial = new Trial(company, schedule, this.before);
		Verdict verdict = trial.run();
		this.before = trial.happenings();
		System.out.println("chaos: " + this.mode + ", " + schedule + "\nchaos:   " + verdict);
		this.total.add(verdict);
		schedule.faults()
			.stream()
			.map(Fault::kind)
			.forEach((kind) -> this.tallies.computeIfAbsent(kind, (key) -> new Tally()).add(verdict));
	}

	Tally total() {
		return this.total;
	}

	/**
	 * Rows of a table, one for each fault; a run counts in the rows of all its faults.
	 */
	String table() {
		StringBuilder rows = new StringBuilder();
		this.tallies.forEach((kind, tally) -> rows
			.append("| %s | %s | %s | %s |%n".formatted(this.mode, this.store.property(), kind, tally)));
		return rows.append("| %s | %s | **all** | %s |%n".formatted(this.mode, this.store.property(), this.total))
			.toString();
	}

}
