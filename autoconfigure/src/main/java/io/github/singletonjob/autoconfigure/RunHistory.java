package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.JobStatus.LastRun;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunListener;
import org.jspecify.annotations.Nullable;

/**
 * The last run of each job on this instance, for operators. Of jobs without an annotation
 * it remembers the latest hundreds, since code can make names up.
 */
class RunHistory implements RunListener {

	private static final int MOST_JOBS = 500;

	private final ReentrantLock access = new ReentrantLock();

	private final Map<String, LastRun> lastRuns = new LinkedHashMap<>();

	private final Map<LeasedRun, Instant> begun = new ConcurrentHashMap<>();

	private final Clock clock;

	RunHistory(Clock clock) {
		this.clock = clock;
	}

	@Override
	public void granted(LeasedRun run) {
		this.begun.put(run, this.clock.instant());
	}

	@Override
	public void lost(LeasedRun run, String reason) {
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		Instant now = this.clock.instant();
		Instant began = this.begun.remove(run);
		Throwable failure = result.failure();
		// The message is left out: it can hold what is no operator's business
		LastRun last = new LastRun(result.outcome(), run.token(), result.fireTime(), (began != null) ? began : now, now,
				(failure != null) ? failure.getClass().getName() : null);
		this.access.lock();
		try {
			this.lastRuns.remove(run.job());
			this.lastRuns.put(run.job(), last);
			if (this.lastRuns.size() > MOST_JOBS) {
				this.lastRuns.remove(this.lastRuns.keySet().iterator().next());
			}
		}
		finally {
			this.access.unlock();
		}
	}

	@Nullable LastRun lastRun(String job) {
		this.access.lock();
		try {
			return this.lastRuns.get(job);
		}
		finally {
			this.access.unlock();
		}
	}

	Set<String> jobs() {
		this.access.lock();
		try {
			return Set.copyOf(this.lastRuns.keySet());
		}
		finally {
			this.access.unlock();
		}
	}

}
