package io.github.singletonjob.lease;

import org.jspecify.annotations.Nullable;

/**
 * One lease that a store has granted. Immutable as far as callers can see; a store keeps
 * in its own implementation what it needs to renew and release it.
 */
public interface LeaseGrant {

	/**
	 * The job.
	 * @return its id
	 */
	JobId job();

	/**
	 * The random value of the request that was granted.
	 * @return the owner
	 */
	String owner();

	/**
	 * The fencing token.
	 * @return greater than that of every earlier grant of the job
	 */
	long token();

	/**
	 * The fire time that the run stands for.
	 * @return null for an extra run
	 */
	default @Nullable GrantedFireTime fireTime() {
		return null;
	}

	/**
	 * Whether the lease of the holder before this one has ended without being given back,
	 * as far as the store knows: that holder may still be at work.
	 * @return false if there was none, or it gave its lease back
	 */
	default boolean followsUnreleased() {
		return false;
	}

}
