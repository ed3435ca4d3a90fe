package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * A store that does not answer when it is looked at, while a condition holds.
 */
record FailingStore(LeaseStore store, BooleanSupplier silent) implements LeaseStore {

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
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
		if (this.silent.getAsBoolean()) {
			throw new LeaseStoreException("no answer", null);
		}
		return this.store.inspect(job, timeout);
	}

}
