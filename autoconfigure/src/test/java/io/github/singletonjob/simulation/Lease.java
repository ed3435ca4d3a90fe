package io.github.singletonjob.simulation;

import io.github.singletonjob.lease.LeaseGrant;

/**
 * A lease as the model store keeps it.
 */
final class Lease {

	final SimulatedProcess process;

	final LeaseGrant grant;

	/** When it ends by itself, if it is a lease of its own. */
	long expiry;

	/** How long after its end the server notices. */
	long late;

	Lease(SimulatedProcess process, LeaseGrant grant) {
		this.process = process;
		this.grant = grant;
	}

	long token() {
		return this.grant.token();
	}

	long ttl() {
		return this.grant.request().ttl().toNanos();
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
