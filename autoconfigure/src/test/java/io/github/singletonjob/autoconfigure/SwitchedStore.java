package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory that can be switched off: then nothing is answered.
 */
class SwitchedStore implements LeaseStore {

	final InMemoryLeaseStore memory = new InMemoryLeaseStore();

	final AtomicInteger looks = new AtomicInteger();

	volatile boolean silent;

	volatile boolean renewalsFail;

	private InMemoryLeaseStore answering() {
		if (this.silent) {
			throw new LeaseStoreException("the store is switched off", null);
		}
		return this.memory;
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		return answering().tryAcquire(request);
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		if (this.renewalsFail) {
			throw new LeaseStoreException("renewals are switched off", null);
		}
		return answering().renew(grants);
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		return answering().complete(grant, completed);
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		return answering().release(grant, completed);
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		if (!Thread.currentThread().getName().startsWith("singleton-job-")) {
			// Those that stand by look when they like
			this.looks.incrementAndGet();
		}
		return answering().inspect(job, timeout);
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		return answering().revoke(job, token, timeout);
	}

}
