package io.github.singletonjob.etcd;

import java.time.Duration;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * A lease that was granted, as a key that was created by us and is attached to a lease of
 * etcd.
 *
 * @param attempt the attempt that created the key
 * @param token the fencing token
 * @param createRevision the revision that created the key
 * @param lease what the key is attached to
 */
record EtcdGrant(Attempt attempt, long token, long createRevision, SharedLease lease) implements LeaseGrant {

	@Override
	public JobId job() {
		return this.attempt.request().job();
	}

	@Override
	public String owner() {
		return this.attempt.request().owner();
	}

	String key() {
		return this.attempt.key();
	}

	Duration callTimeout() {
		return this.attempt.request().callTimeout();
	}

	@Override
	public String toString() {
		return job() + " with token " + this.token;
	}

}
