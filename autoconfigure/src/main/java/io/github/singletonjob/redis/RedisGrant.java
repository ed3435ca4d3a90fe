package io.github.singletonjob.redis;

import java.time.Duration;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * A lease that was granted, with what is needed to keep it.
 *
 * @param request what was granted
 * @param token the fencing token
 * @param fireTime what the run stands for, or null
 * @param followsUnreleased whether the holder before has not given its lease back
 */
record RedisGrant(LeaseRequest request, long token, @Nullable GrantedFireTime fireTime,
		boolean followsUnreleased) implements LeaseGrant {

	@Override
	public JobId job() {
		return this.request.job();
	}

	@Override
	public String owner() {
		return this.request.owner();
	}

	Duration ttl() {
		return this.request.ttl();
	}

	Duration callTimeout() {
		return this.request.callTimeout();
	}

	/** How the value of the lease's key begins while it is ours. */
	String ownMark() {
		return owner() + ' ' + this.token + ' ';
	}

}
