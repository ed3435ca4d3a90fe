package io.github.singletonjob.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * Leases in the memory of one process: excludes the threads of that process and nothing
 * else. A lease that is not renewed expires, as in the other stores, and {@link #lose}
 * lets a test take one away.
 */
public final class InMemoryLeaseStore implements LeaseStore {

	private final ReentrantLock access = new ReentrantLock();

	private final Map<JobId, Held> held = new HashMap<>();

	private final Map<JobId, Long> tokens = new HashMap<>();

	private final LongSupplier nanoTime;

	/**
	 * Creates an empty store on the system's monotonic clock.
	 */
	public InMemoryLeaseStore() {
		this(System::nanoTime);
	}

	/**
	 * Creates an empty store.
	 * @param nanoTime the time by which leases expire, in nanoseconds from any origin
	 */
	public InMemoryLeaseStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		this.access.lock();
		try {
			Held current = current(request.job());
			if (current == null) {
				return new Acquisition.Acquired(grant(request));
			}
			if (current.grant().owner().equals(request.owner())) {
				extend(current);
				return new Acquisition.Acquired(current.grant());
			}
			return new Acquisition.Held(current.holder());
		}
		finally {
			this.access.unlock();
		}
	}

	private LeaseGrant grant(LeaseRequest request) {
		long next = this.tokens.getOrDefault(request.job(), System.currentTimeMillis() - 1) + 1;
		long token = Math.max(next, request.floor() + 1);
		this.tokens.put(request.job(), token);
		Grant grant = new Grant(request.job(), request.owner(), token);
		extend(new Held(grant, request.holder(), request.ttl().toNanos(), 0));
		return grant;
	}

	@Override
	public List<Renewal> renew(List<? extends LeaseGrant> grants) {
		this.access.lock();
		try {
			List<Renewal> renewals = new ArrayList<>();
			for (LeaseGrant grant : grants) {
				renewals.add(renew(grant));
			}
			return renewals;
		}
		finally {
			this.access.unlock();
		}
	}

	private Renewal renew(LeaseGrant grant) {
		Held current = current(grant.job());
		if (current == null || !current.isOf(grant)) {
			return Renewal.GONE;
		}
		extend(current);
		return Renewal.EXTENDED;
	}

	@Override
	public boolean release(LeaseGrant grant) {
		return end(grant.job(), (current) -> current.isOf(grant));
	}

	/**
	 * Takes the lease of a job away from whoever holds it, as a server does that has not
	 * heard of the holder in time. The holder learns of it by its next renewal.
	 * @param job the job's name, in whichever namespace
	 * @return false if nobody held it
	 */
	public boolean lose(String job) {
		this.access.lock();
		try {
			List<JobId> named = this.held.keySet().stream().filter((id) -> id.name().equals(job)).toList();
			long lost = named.stream().filter((id) -> end(id, (current) -> true)).count();
			return lost > 0;
		}
		finally {
			this.access.unlock();
		}
	}

	private boolean end(JobId job, Predicate<Held> condition) {
		this.access.lock();
		try {
			Held current = current(job);
			if (current == null || !condition.test(current)) {
				return false;
			}
			this.held.remove(job);
			return true;
		}
		finally {
			this.access.unlock();
		}
	}

	/** The lease of a job that has not expired, or null. */
	private @Nullable Held current(JobId job) {
		Held last = this.held.get(job);
		if (last != null && this.nanoTime.getAsLong() - last.expiry() >= 0) {
			this.held.remove(job);
			return null;
		}
		return last;
	}

	private void extend(Held lease) {
		long expiry = this.nanoTime.getAsLong() + lease.ttlNanos();
		this.held.put(lease.grant().job(), new Held(lease.grant(), lease.holder(), lease.ttlNanos(), expiry));
	}

	/**
	 * A lease as its holder knows it.
	 *
	 * @param job the job
	 * @param owner the random value of the request
	 * @param token the fencing token
	 */
	private record Grant(JobId job, String owner, long token) implements LeaseGrant {
	}

	/**
	 * A lease as the store knows it.
	 *
	 * @param grant the lease
	 * @param holder the instance, for people
	 * @param ttlNanos the time to live, in nanoseconds
	 * @param expiry when it is over, on the store's clock, in nanoseconds
	 */
	private record Held(LeaseGrant grant, String holder, long ttlNanos, long expiry) {

		boolean isOf(LeaseGrant other) {
			return this.grant.owner().equals(other.owner()) && this.grant.token() == other.token();
		}

	}

}
