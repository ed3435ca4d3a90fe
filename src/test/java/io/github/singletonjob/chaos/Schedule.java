package io.github.singletonjob.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The faults of one run: the same ones for the same seed.
 *
 * @param store where the leases are
 * @param seed what it follows from
 * @param faults one to three, in the order in which they begin
 */
record Schedule(StoreKind store, long seed, List<Fault> faults) {

	private static final int FIRST = 500;

	private static final int SPREAD = 3000;

	private static final int DELAYS = 400;

	private static final int STEPS = 15_000;

	/**
	 * The first fault goes through all kinds as the seed goes up; the others are drawn.
	 */
	static Schedule of(StoreKind store, long seed) {
		Random random = new Random(seed * 31 + store.property().hashCode());
		random.nextLong(); // the first numbers of neighbouring seeds are alike
		List<FaultKind> kinds = FaultKind.of(store);
		List<Fault> faults = new ArrayList<>();
		Set<FaultKind.Place> taken = EnumSet.noneOf(FaultKind.Place.class);
		FaultKind kind = kinds.get((int) Math.floorMod(seed, (long) kinds.size()));
		int count = 1 + random.nextInt(3);
		while (faults.size() < count) {
			if (taken.add(kind.place)) {
				faults.add(fault(kind, random));
			}
			kind = kinds.get(random.nextInt(kinds.size()));
		}
		faults.sort(Comparator.comparingInt(Fault::start));
		return new Schedule(store, seed, List.copyOf(faults));
	}

	/** A schedule of one fault, that hits the holder if it hits a server. */
	static Schedule only(StoreKind store, FaultKind kind, int start, int length) {
		return new Schedule(store, 0, List.of(new Fault(kind, start, length, true, 0)));
	}

	private static Fault fault(FaultKind kind, Random random) {
		int start = FIRST + random.nextInt(SPREAD);
		int length = kind.shortest + random.nextInt(kind.longest - kind.shortest + 1);
		boolean onHolder = random.nextInt(4) > 0;
		int amount = switch (kind) {
			case STORE_DELAY, DATABASE_DELAY -> 1 + random.nextInt(DELAYS);
			case CLOCK_STEP -> random.nextInt(2 * STEPS) - STEPS;
			default -> 0;
		};
		return new Fault(kind, start, length, onHolder, amount);
	}

	boolean has(FaultKind kind) {
		return this.faults.stream().anyMatch((fault) -> fault.kind() == kind);
	}

	@Override
	public String toString() {
		return "%s, seed %d: %s".formatted(this.store.property(), this.seed,
				this.faults.stream().map(Fault::toString).collect(Collectors.joining("; ")));
	}

	/**
	 * One step of a schedule.
	 *
	 * @param kind what is done
	 * @param start when, in milliseconds from the beginning of the run
	 * @param length for how long, in milliseconds
	 * @param onHolder whether it hits the server that holds the billing job at that time,
	 * or another one; of no meaning for what hits all servers
	 * @param amount milliseconds of delay, or by how many the clock is stepped
	 */
	record Fault(FaultKind kind, int start, int length, boolean onHolder, int amount) {

		int end() {
			return this.start + this.length;
		}

		@Override
		public String toString() {
			String target = (this.kind.place == FaultKind.Place.BACKEND) ? ""
					: this.onHolder ? " of the holder" : " of another";
			String by = (this.amount == 0) ? "" : " by " + this.amount + " ms";
			return "%s%s%s at %d ms for %d ms".formatted(this.kind, target, by, this.start, this.length);
		}

	}

}
