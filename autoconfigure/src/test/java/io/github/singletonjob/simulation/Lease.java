package io.github.singletonjob.simulation;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * A lease as the model store keeps it.
 */
final class Lease implements LeaseGrant {

	final SimulatedProcess process;

	private final LeaseRequest request;

	private final long token;

	private final @Nullable GrantedFireTime fireTime;

	/** When it ends by itself, if it is a lease of its own. */
	long expiry;

	/** How long after its end the server notices. */
	long late;

	Lease(SimulatedProcess process, LeaseRequest request, long token, @Nullable GrantedFireTime fireTime) {
		this.process = process;
		this.request = request;
		this.token = token;
		this.fireTime = fireTime;
	}

	@Override
	public JobId job() {
		return this.request.job();
	}

	@Override
	public String owner() {
		return this.request.owner();
	}

	@Override
	public long token() {
		return this.token;
	}

	@Override
	public @Nullable GrantedFireTime fireTime() {
		return this.fireTime;
	}

	long ttl() {
		return this.request.ttl().toNanos();
	}

	/** Why a lease is over. */
	enum End {

		/** Its time was over. */
		EXPIRED,

		/** Before its time: its session was dropped, or the server forgot it. */
		EARLY,

		/** It was given back. */
		RELEASED

	}

}
