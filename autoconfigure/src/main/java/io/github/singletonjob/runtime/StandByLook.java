package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What a stand-by does when it looks at its job. If there is something to run and nobody
 * holds the job, it makes an attempt; if somebody does, it waits to be woken, and looks
 * again from time to time, because a waking can be missed. With nothing to run it waits
 * to be told.
 */
final class StandByLook {

	private static final Log logger = LogFactory.getLog(StandByLook.class);

	private static final Duration AFTER_EXPIRY = Duration.ofMillis(30);

	private final StandByJob job;

	private final StandByView view;

	private final JobClock clock;

	private final Pace pace;

	// Only used by the one look that is on its way, and by the close
	private volatile @Nullable LeaseWatch watch;

	private final AtomicReference<@Nullable Firing> missed = new AtomicReference<>();

	StandByLook(StandByJob job, StandByView view, JobClock clock, Pace pace) {
		this.job = job;
		this.view = view;
		this.clock = clock;
		this.pace = pace;
	}

	/** Has a firing made up for that only others' haste prevented. */
	void missed(Firing firing) {
		this.missed.set(firing);
	}

	/**
	 * Looks at the job, and runs it if need be. One call at a time.
	 * @param freed called, on any thread, when the job may have become free
	 * @return how soon to look again; null for not before somebody asks for it
	 */
	@Nullable Duration once(Runnable freed) throws Throwable {
		LeaseRecord record = this.view.inspect();
		Firing wanted = this.job.isContinuous() ? null : wanted(record);
		if (wanted == null && !this.job.isContinuous()) {
			endWatch();
			return null;
		}
		if (record.held()) {
			return await(record, freed);
		}
		// Those behind in a queue of the store must not wait for somebody who runs
		endWatch();
		long start = this.clock.nanoTime();
		RunResult result = this.job.attempt().run(wanted);
		if (this.clock.nanoTime() - start > Pace.LONGEST.toNanos()) {
			this.pace.reset();
		}
		return switch (result.outcome()) {
			case SKIPPED_HELD -> await(this.view.inspect(), freed);
			case COMPLETED -> succeeded();
			case FAILED -> this.job.isContinuous() ? this.pace.slower() : Duration.ZERO;
			case SKIPPED_ALREADY_RAN, LOST, CANCELLED -> this.pace.slower();
		};
	}

	private @Nullable Firing wanted(LeaseRecord record) {
		Firing firing = this.missed.get();
		Firing open = this.view.open(record);
		if (open == null && firing != null && this.view.isDue(firing, record)) {
			return firing;
		}
		// It has run, or another one's run takes longer than its schedule
		this.missed.compareAndSet(firing, null);
		return open;
	}

	private Duration await(LeaseRecord record, Runnable freed) {
		this.pace.reset();
		if (this.watch == null) {
			this.watch = this.view.watch(freed);
			// It may have become free between the look and the watch
			return Duration.ZERO;
		}
		Duration expiresIn = record.expiresIn();
		Duration pause = this.view.longestPause();
		return (expiresIn != null && expiresIn.compareTo(pause) < 0) ? expiresIn.plus(this.pace.spread(AFTER_EXPIRY))
				: this.pace.spread(pause);
	}

	private Duration succeeded() {
		this.pace.reset();
		return this.job.isContinuous() ? Pace.SHORTEST : Duration.ZERO;
	}

	/** Waits for nothing any more. */
	void endWatch() {
		LeaseWatch ending = this.watch;
		this.watch = null;
		if (ending != null) {
			try {
				ending.close();
			}
			catch (RuntimeException ex) {
				logger.debug(this.job.id().name() + ": a watch did not end cleanly", ex);
			}
		}
	}

}
