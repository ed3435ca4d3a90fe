package io.github.singletonjob.simulation;

import io.github.singletonjob.simulation.Network.Link;

/**
 * What goes wrong by itself, until the faults end: at random times, and at random points
 * between two steps of a process.
 */
final class Faults {

	private final World world;

	private final Simulation simulation;

	private long stepsToNext;

	Faults(World world, Simulation simulation) {
		this.world = world;
		this.simulation = simulation;
		rollSteps();
	}

	Dice dice() {
		return this.world.dice();
	}

	void plan() {
		Plan plan = this.world.plan();
		long faults = plan.isCalm() ? 0 : dice().between(1, 2 + (long) (6 * plan.trouble()));
		for (int i = 0; i < faults; i++) {
			this.world.loop().instant(dice().between(0, plan.faultsEnd()), null, this::happen);
		}
		this.world.loop().instant(dice().between(0, plan.faultsEnd()), null, this.world.store()::copy);
	}

	private void rollSteps() {
		this.stepsToNext = this.world.plan().isCalm() ? Long.MAX_VALUE
				: dice().between(1, (long) (1600 / this.world.plan().trouble()));
	}

	/** Counts the steps of processes; sometimes one is hit between two of them. */
	void strike(SimulatedProcess process, int weight) {
		this.stepsToNext -= weight;
		if (this.stepsToNext > 0 || this.world.loop().now() > this.world.plan().faultsEnd()) {
			return;
		}
		rollSteps();
		if (dice().chance(0.1)) {
			this.simulation.killAndRestart(process);
			throw new Crash();
		}
		freeze(process);
	}

	private void happen() {
		SimulatedProcess process = this.simulation.anyProcess();
		long ttl = this.world.plan().ttl();
		switch ((int) dice().between(0, 9)) {
			case 0, 1 -> freeze(process);
			case 2 -> {
				long time = dice().between(ttl / 10, 3 * ttl);
				this.world.history().note("suspended for " + time / 1_000_000 + " ms: " + process);
				process.suspend(time);
			}
			case 3 -> {
				this.world.history().note("its wall clock steps ahead: " + process);
				process.stepWallClock(dice().between(0, ttl / 1_000_000));
			}
			case 4 -> this.simulation.killAndRestart(process);
			case 5 -> this.simulation.stopAndRestart(process);
			case 6 -> cut(process, dice().oneOf(Link.values()));
			case 7 -> down(Link.STORE);
			case 8 -> down(Link.DATABASE);
			default -> {
				this.world.history().note("the store misbehaves");
				this.world.store().misbehave();
				if (dice().chance(0.5)) {
					// Often the same server, or the same network
					down(Link.DATABASE);
				}
			}
		}
	}

	private void freeze(SimulatedProcess process) {
		long time = dice().between(this.world.plan().ttl() / 4, 4 * this.world.plan().ttl());
		this.world.history().note("frozen for " + time / 1_000_000 + " ms: " + process);
		process.pause(time);
		if (dice().chance(0.3)) {
			cut(process, Link.STORE);
		}
	}

	private void cut(SimulatedProcess process, Link link) {
		long time = dice().between(0, 3 * this.world.plan().ttl());
		this.world.history().note("cut off the " + link + " for " + time / 1_000_000 + " ms: " + process);
		process.cut(link, time);
	}

	private void down(Link link) {
		long time = dice().between(0, 2 * this.world.plan().ttl());
		this.world.history().note("down for " + time / 1_000_000 + " ms: the " + link);
		this.world.network().down(link, time, dice().chance(0.5));
	}

}
