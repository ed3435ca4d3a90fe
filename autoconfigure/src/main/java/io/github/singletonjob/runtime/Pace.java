package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How soon a stand-by tries again: the pause doubles with each failure in a row, and is
 * spread at random, so that instances do not act in step. Used by one look at a time.
 */
final class Pace {

	static final Duration SHORTEST = Duration.ofSeconds(1);

	static final Duration LONGEST = Duration.ofMinutes(1);

	private static final int MOST_DOUBLINGS = 6;

	private final RandomGenerator random;

	private int failures;

	Pace(RandomGenerator random) {
		this.random = random;
	}

	/** Whether nothing has failed since the last success. */
	boolean isFresh() {
		return this.failures == 0;
	}

	void reset() {
		this.failures = 0;
	}

	/** The pause after one more failure. */
	Duration slower() {
		Duration pause = SHORTEST.multipliedBy(1L << Math.min(this.failures, MOST_DOUBLINGS));
		this.failures++;
		return spread((pause.compareTo(LONGEST) < 0) ? pause : LONGEST);
	}

	/** At least half of a pause, and less than all of it. */
	Duration spread(Duration pause) {
		long most = Math.max(2, pause.toNanos());
		return Duration.ofNanos(this.random.nextLong(most / 2, most));
	}

}
