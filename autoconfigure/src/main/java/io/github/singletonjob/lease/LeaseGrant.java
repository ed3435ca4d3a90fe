package io.github.singletonjob.lease;

import org.jspecify.annotations.Nullable;

/**
 * One lease that a store has granted. What a store needs beyond this to renew and release
 * it, it keeps by the owner.
 *
 * @param request the request that was granted
 * @param token the fencing token, greater than that of every earlier grant of the job
 * @param fireTime the fire time that the run stands for; null for an extra run
 * @param followsUnreleased whether the lease of the holder before this one has ended
 * without being given back, as far as the store knows: that holder may still be at work.
 * False if there was none, or it gave its lease back
 */
public record LeaseGrant(LeaseRequest request, long token, @Nullable GrantedFireTime fireTime,
		boolean followsUnreleased) {

	/**
	 * The job.
	 * @return its id
	 */
	public JobId job() {
		return this.request.job();
	}

	/**
	 * The random value of the request that was granted.
	 * @return the owner
	 */
	public String owner() {
		return this.request.owner();
	}

	@Override
	public String toString() {
		return job() + " with token " + this.token;
	}

}
