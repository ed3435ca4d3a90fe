package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.Map;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

import org.springframework.beans.factory.InitializingBean;

/**
 * A fence whose database is prepared at start or, if it did not answer then, before it is
 * raised for the first time.
 */
class PreparedFence implements Fence, InitializingBean {

	private final Fence fence;

	private final Preparation preparation;

	PreparedFence(Fence fence, Preparation preparation) {
		this.fence = fence;
		this.preparation = preparation;
	}

	@Override
	public void afterPropertiesSet() {
		this.preparation.atStart();
	}

	@Override
	public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
		this.preparation.ensureDone();
		return this.fence.raise(grant, holder, timeout);
	}

	@Override
	public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
		return this.fence.complete(grant, fireTime, timeout);
	}

	@Override
	public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
		this.preparation.ensureDone();
		return this.fence.fireTimes(job, timeout);
	}

}
