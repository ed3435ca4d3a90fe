package io.github.singletonjob.lease;

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

}
