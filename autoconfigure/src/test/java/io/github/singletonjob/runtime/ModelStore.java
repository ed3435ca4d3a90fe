package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
 * A store on virtual time whose faults the test chooses.
 */
class ModelStore implements LeaseStore {

	final List<String> calls = new ArrayList<>();

	/** What each release has recorded; null for a fire time that stays open. */
	final List<@Nullable Instant> released = new ArrayList<>();

	int failingRenewals;

	int unansweredRenewals;

	int failingReleases;

	boolean gone;

	Duration acquireTakes = Duration.ZERO;

	Runnable duringRenewal = () -> {
	};

	private final VirtualTime time;

	private final Map<JobId, Lease> leases = new HashMap<>();

	private final Map<JobId, Long> tokens = new HashMap<>();

	ModelStore(VirtualTime time) {
		this.time = time;
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		this.calls.add("acquire");
		this.time.freeze(this.acquireTakes);
		Lease current = this.leases.get(request.job());
		if (current != null && current.expires() > this.time.nanoTime()) {
			return new Acquisition.Held("other");
		}
		long token = Math.max(this.tokens.getOrDefault(request.job(), 0L), request.floor()) + 1;
		this.tokens.put(request.job(), token);
		LeaseGrant grant = new LeaseGrant(request, token, null, false);
		hold(grant);
		return new Acquisition.Acquired(grant);
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		this.calls.add("renew");
		this.duringRenewal.run();
		if (this.failingRenewals > 0) {
			this.failingRenewals--;
			throw new LeaseStoreException("no answer", null);
		}
		if (this.unansweredRenewals > 0) {
			this.unansweredRenewals--;
			return Collections.nCopies(grants.size(), Renewal.UNKNOWN);
		}
		return grants.stream().map(this::renew).toList();
	}

	private Renewal renew(LeaseGrant grant) {
		if (this.gone || !isHeld(grant)) {
			return Renewal.GONE;
		}
		hold(grant);
		return Renewal.EXTENDED;
	}

	private void hold(LeaseGrant grant) {
		this.leases.put(grant.job(), new Lease(grant, this.time.nanoTime() + grant.request().ttl().toNanos()));
	}

	private boolean isHeld(LeaseGrant grant) {
		Lease current = this.leases.get(grant.job());
		return current != null && current.grant().equals(grant) && current.expires() > this.time.nanoTime();
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		return true;
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return new LeaseRecord(false, null, 0, null, Map.of());
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		this.calls.add("release");
		this.released.add(completed);
		if (this.failingReleases > 0) {
			this.failingReleases--;
			throw new LeaseStoreException("no answer to release", null);
		}
		boolean ours = isHeld(grant);
		this.leases.computeIfPresent(grant.job(), (job, lease) -> lease.grant().equals(grant) ? null : lease);
		return ours;
	}

	long count(String call) {
		return this.calls.stream().filter(call::equals).count();
	}

	private record Lease(LeaseGrant grant, long expires) {
	}

}
