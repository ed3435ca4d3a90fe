package io.github.singletonjob.lease;

import java.time.Duration;

/**
 * A request for the lease of a job.
 *
 * @param job the job
 * @param owner a random value, unique to this request; renewal and release are
 * conditional on it
 * @param holder the instance that asks, for people
 * @param ttl how long the lease lasts without renewal
 * @param callTimeout how long the call may take before its outcome counts as unknown
 * @param floor the granted token must be greater than this; 0 if the caller knows of none
 */
public record LeaseRequest(JobId job, String owner, String holder, Duration ttl, Duration callTimeout, long floor) {

	/**
	 * The same request, for a token above a number that the guarded database has seen,
	 * with an owner of its own.
	 * @param owner the new owner value
	 * @param floor the granted token must be greater than this
	 * @return a new request
	 */
	public LeaseRequest above(String owner, long floor) {
		return new LeaseRequest(this.job, owner, this.holder, this.ttl, this.callTimeout, floor);
	}

}
