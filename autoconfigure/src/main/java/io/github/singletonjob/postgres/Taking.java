package io.github.singletonjob.postgres;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.GrantedFireTime;
import org.jspecify.annotations.Nullable;

/**
 * What the acquiring statement has answered for one claim.
 */
sealed interface Taking {

	/**
	 * No row was written, because what was decided before did not hold any more. The lock
	 * is still there.
	 */
	Taking NOTHING = new Overtaken();

	/**
	 * The advisory lock was not taken, and nothing was written.
	 *
	 * @param answer why
	 */
	record Refused(Acquisition answer) implements Taking {
	}

	/**
	 * The lock was taken, and the token is to be minted by another session.
	 *
	 * @param seen the job's token under the lock, or null if there is none
	 */
	record Locked(@Nullable Long seen) implements Taking {
	}

	/**
	 * The token is durable.
	 *
	 * @param token the token
	 * @param fireTime the fire time, or null for an extra run
	 * @param followsUnreleased whether the holder before has not given its lease back
	 */
	record Minted(long token, @Nullable GrantedFireTime fireTime, boolean followsUnreleased) implements Taking {
	}

	/** See {@link #NOTHING}. */
	record Overtaken() implements Taking {
	}

	/**
	 * One claim of an acquiring statement.
	 *
	 * @param claim the claim
	 * @param seen the token that was seen under the lock, or null
	 */
	record Asked(Claim claim, @Nullable Long seen) {
	}

	/**
	 * The parts of taking a lease, and which of them a statement has to do.
	 */
	enum Step {

		/** Takes the lock and mints, on one session. */
		LOCK_AND_MINT(true, true, false),

		/** Takes the lock and tells which token is there. */
		LOCK(true, false, false),

		/** The lock was taken already: tells which token is there now. */
		LOOK(false, false, false),

		/** Mints on another session than the one that has the lock. */
		MINT(false, true, true),

		/** Mints on the session that has the lock. */
		MINT_UNDER_LOCK(false, true, false);

		private final boolean mints;

		private final String one;

		private final String several;

		Step(boolean locks, boolean mints, boolean compares) {
			this.mints = mints;
			this.one = LeaseSql.acquire(locks, mints, compares, true);
			this.several = LeaseSql.acquire(locks, mints, compares, false);
		}

		boolean mints() {
			return this.mints;
		}

		/** The statement, for one request or for any number. */
		String sql(boolean forOne) {
			return forOne ? this.one : this.several;
		}

	}

}
