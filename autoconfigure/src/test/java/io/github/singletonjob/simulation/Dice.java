package io.github.singletonjob.simulation;

import java.util.SplittableRandom;

/**
 * All that is random in a schedule, from one seed.
 */
final class Dice {

	private final SplittableRandom random;

	Dice(long seed) {
		this.random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + 1);
	}

	boolean chance(double probability) {
		return probability > 0 && this.random.nextDouble() < probability;
	}

	/** Uniform, both ends included. */
	long between(long least, long most) {
		return (most <= least) ? least : this.random.nextLong(least, most + 1);
	}

	double fraction(double least, double most) {
		return least + this.random.nextDouble() * (most - least);
	}

	<T> T oneOf(T[] values) {
		return values[this.random.nextInt(values.length)];
	}

	SplittableRandom split() {
		return this.random.split();
	}

}
