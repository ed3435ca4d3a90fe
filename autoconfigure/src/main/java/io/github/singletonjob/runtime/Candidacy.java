package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One instance's standing by for one job. It looks at the job; if there is something to
 * run and nobody holds the job, it makes an attempt; if somebody does, it waits to be
 * woken, and looks again from time to time, because a waking can be missed. With nothing
 * to run it waits to be told.
 * <p>
 * At most one look is on its way and at most one is planned. What is told to it meanwhile
 * makes it look once more.
 */
final class Candidacy {

	private static final Log logger = LogFactory.getLog(Candidacy.class);

	private static final Duration AFTER_EXPIRY = Duration.ofMillis(30);

	private final ReentrantLock state = new ReentrantLock();

	private final StandByJob job;

	private final StandByView view;

	private final Scheduling scheduling;

	private final Pace pace;

	private boolean looking;

	private boolean lookAgain;

	private boolean closed;

	private Runnable planned = () -> {
	};

	// Only used by the one look that is on its way, and by the close
	private volatile @Nullable LeaseWatch watch;

	private final AtomicReference<@Nullable Firing> missed = new AtomicReference<>();

	Candidacy(StandByJob job, StandByView view, Scheduling scheduling) {
		this.job = job;
		this.view = view;
		this.scheduling = scheduling;
		this.pace = new Pace(scheduling.random());
	}

	/**
	 * As {@link #look()}, and makes up for a firing that only others' haste prevented.
	 */
	void missed(Firing firing) {
		this.missed.set(firing);
		look();
	}

	/** Looks at the job soon, on a worker thread. */
	void look() {
		this.state.lock();
		try {
			this.lookAgain = true;
			if (this.closed || this.looking) {
				return;
			}
			this.planned.run();
			this.looking = true;
		}
		finally {
			this.state.unlock();
		}
		try {
			this.scheduling.workers().execute(this::work);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.warn(this.job.id().name() + ": no thread to stand by on: " + ex.getMessage());
			plan(Pace.SHORTEST);
		}
	}

	void close() {
		this.state.lock();
		try {
			this.closed = true;
			this.planned.run();
			if (this.looking) {
				return;
			}
		}
		finally {
			this.state.unlock();
		}
		endWatch();
	}

	private void work() {
		Duration pause = null;
		try {
			pause = beginLook() ? lookOnce() : null;
		}
		catch (Throwable ex) {
			pause = failed(ex);
		}
		plan(pause);
	}

	/** Takes note that what was told so far is looked at now. */
	private boolean beginLook() {
		this.state.lock();
		try {
			this.lookAgain = false;
			return !this.closed;
		}
		finally {
			this.state.unlock();
		}
	}

	private boolean isClosed() {
		this.state.lock();
		try {
			return this.closed;
		}
		finally {
			this.state.unlock();
		}
	}

	/** Plans the next look; null for none until somebody asks for one. */
	private void plan(@Nullable Duration pause) {
		boolean again;
		boolean over;
		this.state.lock();
		try {
			this.looking = false;
			over = this.closed;
			again = !over && this.lookAgain;
			if (!over && !again && pause != null) {
				this.planned = this.scheduling.timer().after(pause, this::look);
			}
		}
		finally {
			this.state.unlock();
		}
		if (over) {
			endWatch();
		}
		else if (again) {
			look();
		}
	}

	private @Nullable Duration lookOnce() throws Throwable {
		LeaseRecord record = this.view.inspect();
		Firing wanted = this.job.isContinuous() ? null : wanted(record);
		if (wanted == null && !this.job.isContinuous()) {
			endWatch();
			return null;
		}
		if (record.held()) {
			return await(record);
		}
		// Those behind in a queue of the store must not wait for somebody who runs
		endWatch();
		long start = this.scheduling.clock().nanoTime();
		RunResult result = this.job.attempt().run(wanted);
		if (this.scheduling.clock().nanoTime() - start > Pace.LONGEST.toNanos()) {
			this.pace.reset();
		}
		return switch (result.outcome()) {
			case SKIPPED_HELD -> await(this.view.inspect());
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

	private Duration await(LeaseRecord record) {
		this.pace.reset();
		if (this.watch == null) {
			this.watch = this.view.watch(this::look);
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

	private Duration failed(Throwable thrown) {
		String message = this.job.id().name() + ": standing by failed, trying again: " + thrown.getMessage();
		if (this.pace.isFresh() && !isClosed()) {
			logger.warn(message, (thrown instanceof Error) ? thrown : null);
		}
		else {
			logger.debug(message, thrown);
		}
		return this.pace.slower();
	}

	private void endWatch() {
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
