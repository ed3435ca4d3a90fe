package io.github.singletonjob.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * Leases in the memory of one process: excludes the threads of that process and nothing
 * else. A lease that is not renewed expires, as in the other stores, and {@link #lose}
 * lets a test take one away.
 */
public final class InMemoryLeaseStore implements LeaseStore {

	private final ReentrantLock access = new ReentrantLock();

	private final Map<JobId, JobState> jobs = new HashMap<>();

	private final Map<Object, Watcher> watchers = new ConcurrentHashMap<>();

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
		return locked(() -> {
			JobState state = state(request.job());
			JobState.Held current = state.current(now());
			if (current == null) {
				return state.grant(request, now());
			}
			if (current.grant().owner().equals(request.owner())) {
				state.extend(now());
				return new Acquisition.Acquired(current.grant());
			}
			return new Acquisition.Held(current.holder());
		});
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		return locked(() -> {
			List<Renewal> renewals = new ArrayList<>();
			for (LeaseGrant grant : grants) {
				boolean held = state(grant.job()).isHeldBy(grant, now());
				if (held) {
					state(grant.job()).extend(now());
				}
				renewals.add(held ? Renewal.EXTENDED : Renewal.GONE);
			}
			return renewals;
		});
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		return locked(() -> {
			JobState state = state(grant.job());
			boolean held = state.isHeldBy(grant, now());
			if (held) {
				state.complete(grant, completed);
			}
			return held;
		});
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		boolean held = locked(() -> {
			JobState state = state(grant.job());
			if (!state.isHeldBy(grant, now())) {
				return false;
			}
			if (completed != null) {
				state.complete(grant, completed);
			}
			state.end(true);
			return true;
		});
		if (held) {
			wake(grant.job());
		}
		return held;
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return locked(() -> state(job).inspect(now()));
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		boolean held = locked(() -> {
			JobState.Held current = state(job).current(now());
			if (current == null || current.grant().token() != token) {
				return false;
			}
			state(job).end(false);
			return true;
		});
		if (held) {
			wake(job);
		}
		return held;
	}

	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		Object key = new Object();
		this.watchers.put(key, new Watcher(job, freed));
		return () -> this.watchers.remove(key);
	}

	/**
	 * Takes the lease of a job away from whoever holds it, as a server does that has not
	 * heard of the holder in time. The holder learns of it by its next renewal.
	 * @param job the job's name, in whichever namespace
	 * @return false if nobody held it
	 */
	public boolean lose(String job) {
		List<JobId> lost = locked(() -> {
			List<JobId> named = this.jobs.keySet()
				.stream()
				.filter((id) -> id.name().equals(job) && state(id).current(now()) != null)
				.toList();
			named.forEach((id) -> state(id).end(false));
			return named;
		});
		lost.forEach(this::wake);
		return !lost.isEmpty();
	}

	private void wake(JobId job) {
		this.watchers.values()
			.stream()
			.filter((watcher) -> watcher.job().equals(job))
			.forEach((watcher) -> watcher.freed().run());
	}

	private JobState state(JobId job) {
		return this.jobs.computeIfAbsent(job, (id) -> new JobState());
	}

	private long now() {
		return this.nanoTime.getAsLong();
	}

	private <T> T locked(Supplier<T> action) {
		this.access.lock();
		try {
			return action.get();
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Somebody who stands by.
	 *
	 * @param job the job
	 * @param freed is told that its lease may have become free
	 */
	private record Watcher(JobId job, Runnable freed) {
	}

}
