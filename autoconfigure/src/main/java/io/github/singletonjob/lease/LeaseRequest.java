package io.github.singletonjob.lease;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

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
 * @param firing the firing of a schedule for which the lease is asked; null for an extra
 * run
 */
public record LeaseRequest(JobId job, String owner, String holder, Duration ttl, Duration callTimeout, long floor,
		@Nullable Firing firing) {

	/**
	 * A request for an extra run.
	 * @param job the job
	 * @param owner a random value, unique to this request
	 * @param holder the instance that asks, for people
	 * @param ttl how long the lease lasts without renewal
	 * @param callTimeout how long the call may take
	 * @param floor the granted token must be greater than this
	 */
	public LeaseRequest(JobId job, String owner, String holder, Duration ttl, Duration callTimeout, long floor) {
		this(job, owner, holder, ttl, callTimeout, floor, null);
	}

	/**
	 * The same request, for a token above a number that the guarded database has seen,
	 * with an owner of its own.
	 * @param owner the new owner value
	 * @param floor the granted token must be greater than this
	 * @return a new request
	 */
	public LeaseRequest above(String owner, long floor) {
		return new LeaseRequest(this.job, owner, this.holder, this.ttl, this.callTimeout, floor, this.firing);
	}

	/**
	 * The same request for the firing of a schedule.
	 * @param firing the firing
	 * @return a new request
	 */
	public LeaseRequest forFiring(@Nullable Firing firing) {
		return new LeaseRequest(this.job, this.owner, this.holder, this.ttl, this.callTimeout, this.floor, firing);
	}

}
