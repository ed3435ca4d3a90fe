package io.github.singletonjob.simulation;

import java.util.function.LongFunction;

/**
 * Runs one schedule after the other. Speaks only types of the JDK, because a changed
 * runtime is loaded by a class loader of its own.
 */
final class Schedules implements LongFunction<String>, AutoCloseable {

	/**
	 * How many schedules a build runs, from seed 1 on. Each broken rule has to show in
	 * one of them; the rarest does so in one of 4,000.
	 */
	static final long IN_A_BUILD = 20_000;

	private final EventLoop loop = new EventLoop();

	private final Flaw flaw;

	Schedules(String flaw) {
		this.flaw = Flaw.valueOf(flaw);
	}

	/**
	 * Runs the schedule of a seed.
	 * @return the promises that were broken, empty if none was
	 */
	@Override
	public String apply(long seed) {
		return String.join("; ", Simulation.run(this.loop, seed, this.flaw, false).violations());
	}

	/** The same, and everything that happens in it. */
	String trace(long seed) {
		return Simulation.run(this.loop, seed, this.flaw, true).trace();
	}

	@Override
	public void close() {
		this.loop.close();
	}

}
