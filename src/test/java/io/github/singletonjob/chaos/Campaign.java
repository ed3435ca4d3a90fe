package io.github.singletonjob.chaos;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * Runs on one deployment, one after the other, while its processes live on.
 */
final class Campaign {

	private final Map<FaultKind, Verdict> byKind = new EnumMap<>(FaultKind.class);

	private final Mode mode;

	private final StoreKind store;

	private final int servers;

	private Verdict total = Verdict.NONE;

	private List<History.Fault> before = List.of();

	Campaign(Mode mode, StoreKind store, int servers) {
		this.mode = mode;
		this.store = store;
		this.servers = servers;
	}

	/** The schedules of consecutive seeds. */
	static List<Schedule> schedules(StoreKind store, long firstSeed, int count) {
		return LongStream.range(firstSeed, firstSeed + count).mapToObj((seed) -> Schedule.of(store, seed)).toList();
	}

	/** Runs the schedules on a thread of its own. */
	CompletableFuture<Campaign> start(List<Schedule> schedules) {
		return startUntil((verdict) -> false, schedules);
	}

	/** The same, until one of them has shown what is wanted. */
	CompletableFuture<Campaign> startUntil(Predicate<Verdict> wanted, List<Schedule> schedules) {
		return CompletableFuture.supplyAsync(() -> run(wanted, schedules), (task) -> new Thread(task, "chaos").start())
			.orTimeout(1, TimeUnit.DAYS);
	}

	private Campaign run(Predicate<Verdict> wanted, List<Schedule> schedules) {
		try (Deployment deployment = new Deployment(this.mode, this.store, this.servers)) {
			if (!new Trial(deployment, new Schedule(this.store, 0, List.of()), List.of()).awaitRecovery()) {
				throw new IllegalStateException("The servers do not start: " + deployment.slots()
					.stream()
					.map((slot) -> String.join("\n", slot.process().lines()))
					.toList());
			}
			for (Schedule schedule : schedules) {
				Verdict verdict = run(deployment, schedule);
				System.out.println("chaos: " + this.mode + ", " + schedule + "\nchaos:   " + verdict);
				if (wanted.test(verdict)) {
					break;
				}
			}
		}
		return this;
	}

	private Verdict run(Deployment deployment, Schedule schedule) {
		Trial trial = new Trial(deployment, schedule, this.before);
		Verdict verdict = trial.run();
		this.before = trial.faults();
		this.total = this.total.plus(verdict);
		schedule.faults()
			.stream()
			.map(Schedule.Fault::kind)
			.forEach((kind) -> this.byKind.merge(kind, verdict, Verdict::plus));
		return verdict;
	}

	Verdict total() {
		return this.total;
	}

	/**
	 * Rows of a table, one for each fault; a run counts in the rows of all its faults.
	 */
	String table() {
		StringBuilder rows = new StringBuilder();
		this.byKind.forEach((kind, verdict) -> rows
			.append("| %s | %s | %s | %s |%n".formatted(this.mode, this.store.property(), kind, verdict.row())));
		return rows.append("| %s | %s | **all** | %s |%n".formatted(this.mode, this.store.property(), this.total.row()))
			.toString();
	}

	@Override
	public String toString() {
		return this.mode + " on " + this.store.property() + ": " + this.total;
	}

}
