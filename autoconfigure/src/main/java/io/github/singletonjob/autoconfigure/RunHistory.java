package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.JobStatus.LastRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunListener;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The runs of this instance for operators: a line in the log when one begins and ends,
 * and the last one of each job. Runs that follow each other within a minute are logged
 * for debugging only, unless they end early. Of jobs without an annotation it remembers
 * the latest hundreds, since code can make names up.
 */
class RunHistory implements RunListener {

	private static final Log logger = LogFactory.getLog(RunHistory.class);

	private static final int MOST_JOBS = 500;

	private static final Duration FREQUENT = Duration.ofMinutes(1);

	private final ReentrantLock access = new ReentrantLock();

	private final Map<String, LastRun> lastRuns = new LinkedHashMap<>();

	private final Map<LeasedRun, Begun> begun = new ConcurrentHashMap<>();

	private final Clock clock;

	RunHistory(Clock clock) {
		this.clock = clock;
	}

	@Override
	public void granted(LeasedRun run) {
		Instant now = this.clock.instant();
		LastRun last = lastRun(run.job());
		boolean frequent = last != null && last.began().plus(FREQUENT).isAfter(now);
		this.begun.put(run, new Begun(now, frequent));
		log(frequent, describe(run) + " begins");
	}

	@Override
	public void lost(LeasedRun run, String reason) {
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		Instant now = this.clock.instant();
		Begun begun = this.begun.remove(run);
		Instant began = (begun != null) ? begun.at() : now;
		Throwable failure = result.failure();
		logEnd(run, result, Duration.between(began, now), begun != null && begun.frequent());
		// The message is left out: it can hold what is no operator's business
		LastRun last = new LastRun(result.outcome(), run.token(), result.fireTime(), began, now,
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

	private static void logEnd(LeasedRun run, RunResult result, Duration took, boolean frequent) {
		boolean cutShort = result.outcome() == RunOutcome.LOST || result.outcome() == RunOutcome.CANCELLED;
		String fireTime = "";
		if (result.fireTime() != null) {
			fireTime = cutShort ? "; its fire time stays open, for another run to finish"
					: "; its fire time is completed";
		}
		log(frequent && !cutShort, describe(run) + " has ended after " + took.toMillis() + " ms: "
				+ result.outcome().name().toLowerCase(Locale.ROOT) + fireTime);
	}

	private static String describe(LeasedRun run) {
		return run.job() + ": run with token " + run.token()
				+ run.fireTime().map((instant) -> " for " + instant).orElse("");
	}

	private static void log(boolean frequent, String line) {
		if (frequent) {
			logger.debug(line);
		}
		else {
			logger.info(line);
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

	/**
	 * A run that has not ended.
	 *
	 * @param at since when
	 * @param frequent whether the one before it began less than a minute earlier
	 */
	private record Begun(Instant at, boolean frequent) {
	}

}
