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
		if (current != null && current.expires > this.time.nanoTime()) {
			return new Acquisition.Held("other");
		}
		long token = Math.max(this.tokens.getOrDefault(request.job(), 0L), request.floor()) + 1;
		this.tokens.put(request.job(), token);
		Lease lease = new Lease(request.job(), request.owner(), token, request.ttl());
		lease.expires = this.time.nanoTime() + request.ttl().toNanos();
		this.leases.put(request.job(), lease);
		return new Acquisition.Acquired(lease);
	}

	@Override
	public List<Renewal> renew(List<? extends LeaseGrant> grants) {
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
		return grants.stream().map((grant) -> renew((Lease) grant)).toList();
	}

	private Renewal renew(Lease lease) {
		if (this.gone || this.leases.get(lease.job) != lease || lease.expires <= this.time.nanoTime()) {
			return Renewal.GONE;
		}
		lease.expires = this.time.nanoTime() + lease.ttl.toNanos();
		return Renewal.EXTENDED;
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
		if (this.failingReleases > 0) {
			this.failingReleases--;
			throw new LeaseStoreException("no answer to release", null);
		}
		Lease lease = (Lease) grant;
		boolean ours = lease.expires > this.time.nanoTime();
		return this.leases.remove(lease.job, lease) && ours;
	}

	long count(String call) {
		return this.calls.stream().filter(call::equals).count();
	}

	static final class Lease implements LeaseGrant {

		private final JobId job;

		private final String owner;

		private final long token;

		private final Duration ttl;

		private long expires;

		private Lease(JobId job, String owner, long token, Duration ttl) {
			this.job = job;
			this.owner = owner;
			this.token = token;
			this.ttl = ttl;
		}

		@Override
		public JobId job() {
			return this.job;
		}

		@Override
		public String owner() {
			return this.owner;
		}

		@Override
		public long token() {
			return this.token;
		}

	}

}
