package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.InitializingBean;

/**
 * A store whose database is prepared at start or, if it did not answer then, before the
 * first grant.
 */
class PreparedStore implements LeaseStore, InitializingBean, AutoCloseable {

	private final LeaseStore store;

	private final Preparation preparation;

	PreparedStore(LeaseStore store, Preparation preparation) {
		this.store = store;
		this.preparation = preparation;
	}

	@Override
	public void afterPropertiesSet() {
		this.preparation.atStart();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		this.preparation.ensureDone();
		return this.store.tryAcquire(request);
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		return this.store.renew(grants);
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		return this.store.complete(grant, completed);
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		return this.store.release(grant, completed);
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		this.preparation.ensureDone();
		return this.store.inspect(job, timeout);
	}

	@Override
	public Map<JobId, LeaseRecord> inspect(Collection<JobId> jobs, Duration timeout) {
		this.preparation.ensureDone();
		return this.store.inspect(jobs, timeout);
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		this.preparation.ensureDone();
		return this.store.revoke(job, token, timeout);
	}

	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		return this.store.watch(job, ttl, freed);
	}

	@Override
	public void close() throws Exception {
		if (this.store instanceof AutoCloseable closeable) {
			closeable.close();
		}
	}

}
