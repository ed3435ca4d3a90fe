package io.github.singletonjob.lease;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A store's definite answer to a {@link LeaseRequest}.
 */
public sealed interface Acquisition {

	/**
	 * The lease is the caller's, for the requested time to live from the moment that the
	 * request was sent.
	 *
	 * @param grant the lease
	 */
	record Acquired(LeaseGrant grant) implements Acquisition {
	}

	/**
	 * Another holder has the lease. Nothing was written.
	 *
	 * @param holder the instance that has it, for people, or null if the store cannot
	 * tell
	 */
	record Held(@Nullable String holder) implements Acquisition {
	}

	/**
	 * There is nothing to run for the firing: its fire time was completed, or a later
	 * one, or nothing is open. Nothing was written.
	 *
	 * @param completed the last fire time that was completed, or null if none is known
	 */
	record AlreadyRan(@Nullable Instant completed) implements Acquisition {
	}

	/**
	 * The fire time lies further ahead of the store's clock than
	 * {@link Firing#CLOCK_TOLERANCE}: the clock of this machine is wrong. Nothing was
	 * written.
	 *
	 * @param storeTime the store's clock
	 */
	record Early(Instant storeTime) implements Acquisition {
	}

}
