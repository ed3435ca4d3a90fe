package io.github.singletonjob.etcd;

import java.time.Duration;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * A lease that was granted, as a key that was created by us and is attached to a lease of
 * etcd.
 *
 * @param request what was asked for
 * @param token the fencing token
 * @param key the key
 * @param createRevision the revision that created the key
 * @param lease what the key is attached to
 */
record EtcdGrant(Attempt request, long token, String key, long createRevision,
		SharedLease lease) implements LeaseGrant {

	@Override
	public JobId job() {
		return this.request.request().job();
	}

	@Override
	public String owner() {
		return this.request.request().owner();
	}

	Duration callTimeout() {
		return this.request.request().callTimeout();
	}

}
