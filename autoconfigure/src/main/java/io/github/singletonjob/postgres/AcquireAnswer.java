package io.github.singletonjob.postgres;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.GrantedFireTime;
import org.jspecify.annotations.Nullable;

/**
 * What the acquiring statement has answered.
 */
sealed interface AcquireAnswer {

	/**
	 * The advisory lock was not taken, and nothing was written.
	 *
	 * @param answer why
	 */
	record NotTaken(Acquisition answer) implements AcquireAnswer {
	}

	/**
	 * The lock was taken and the token is durable.
	 *
	 * @param token the token
	 * @param fireTime the fire time, or null for an extra run
	 * @param followsUnreleased whether the holder before has not given its lease back
	 */
	record Minted(long token, @Nullable GrantedFireTime fireTime, boolean followsUnreleased) implements AcquireAnswer {
	}

	/**
	 * The lock was taken, but what was decided before that did not hold any more, or the
	 * tables took no row. The lock is still there.
	 */
	record Overtaken() implements AcquireAnswer {
	}

}
