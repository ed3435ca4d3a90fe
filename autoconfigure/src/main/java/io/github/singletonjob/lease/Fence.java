package io.github.singletonjob.lease;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Remembers, in the database that holds the guarded data, the highest token that has
 * begun to work. The rule is that of Martin Kleppmann's "How to do distributed locking"
 * (2016), with the token raised before the holder reads anything.
 */
@FunctionalInterface
public interface Fence {

	/**
	 * Raises the fence of a job to the grant's token, in a committed transaction of its
	 * own. When this returns {@link Raised}, no transaction of an older holder can commit
	 * any more, and everything that older holders have committed is visible. Repeating
	 * the raise of the same grant succeeds. Called on the thread of the job, before its
	 * body.
	 * @param grant the lease that was granted
	 * @param holder the instance, for people
	 * @param timeout how long the call may take
	 * @return whether the fence stands at the grant's token now
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout);

	/**
	 * Records that the run of a grant has ended by itself. Called on the thread on which
	 * the body has ended, and before the lease is given back. Conditional on the fence
	 * standing at the grant's token and owner. A fence that keeps no fire times leaves
	 * that to the store.
	 * @param grant the lease
	 * @param fireTime the fire time that was raised
	 * @param timeout how long the call may take
	 * @return what was recorded
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	default Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
		return Completion.NOT_KEPT;
	}

	/**
	 * What the guarded database knows of the fire times of a job, also when the store was
	 * wiped or exchanged. Called on a worker thread by instances that stand by.
	 * @param job the job
	 * @param timeout how long the call may take
	 * @return by schedule
	 * @throws LeaseStoreException if the database did not answer
	 */
	default Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
		return Map.of();
	}

	/**
	 * What a fence has recorded of a fire time that has run.
	 */
	enum Completion {

		/** It is completed: no run repeats it, whatever the store knows. */
		RECORDED,

		/** Nothing, because the fence stands at another grant. */
		REFUSED,

		/** Nothing, because this fence keeps no fire times. */
		NOT_KEPT

	}

	/**
	 * A fence's definite answer.
	 */
	sealed interface FenceAnswer {

	}

	/**
	 * The fence stands at the grant's token and owner.
	 *
	 * @param fireTime the fire time that the run stands for, which can be another one
	 * than the grant's if the store has forgotten one that is open; null for an extra run
	 */
	record Raised(@Nullable GrantedFireTime fireTime) implements FenceAnswer {
	}

	/**
	 * The database knows that there is nothing to run for the grant's fire time. The
	 * fence stands at the grant's token all the same.
	 *
	 * @param completed the last fire time that was completed, or null if none is known: a
	 * firing that finishes nothing has nothing to run once its fire time was started
	 */
	record AlreadyRan(@Nullable Instant completed) implements FenceAnswer {
	}

	/**
	 * The grant's fire time lies further ahead of the database's clock than
	 * {@link Firing#CLOCK_TOLERANCE}. Nothing was written.
	 *
	 * @param databaseTime the database's clock
	 */
	record Early(Instant databaseTime) implements FenceAnswer {
	}

	/**
	 * The database has seen a token at or above the grant's from another owner: either
	 * the grant is stale, or the store has gone back in time.
	 *
	 * @param seen the token that the fence stands at
	 */
	record Refused(long seen) implements FenceAnswer {
	}

}
