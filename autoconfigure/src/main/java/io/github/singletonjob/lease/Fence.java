package io.github.singletonjob.lease;

import java.time.Duration;

/**
 * Remembers, in the database that holds the guarded data, the highest token that has
 * begun to work. The rule is that of Martin Kleppmann's "How to do distributed locking"
 * (2016), with the token raised before the holder reads anything.
 */
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
	 * A fence's definite answer.
	 */
	sealed interface FenceAnswer {

	}

	/**
	 * The fence stands at the grant's token and owner.
	 */
	record Raised() implements FenceAnswer {
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
