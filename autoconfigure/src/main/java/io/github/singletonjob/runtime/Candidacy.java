package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.Firing;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One instance's standing by for one job: decides when to take a {@link StandByLook} at
 * it. At most one look is on its way and at most one is planned. What is told to it
 * meanwhile makes it look once more.
 */
final class Candidacy {

	private static final Log logger = LogFactory.getLog(Candidacy.class);

	private final ReentrantLock state = new ReentrantLock();

	private final StandByJob job;

	private final Scheduling scheduling;

	private final Pace pace;

	private final StandByLook look;

	private boolean looking;

	private boolean lookAgain;

	private boolean closed;

	private Runnable planned = () -> {
	};

	Candidacy(StandByJob job, StandByView view, Scheduling scheduling) {
		this.job = job;
		this.scheduling = scheduling;
		this.pace = new Pace(scheduling.random());
		this.look = new StandByLook(job, view, scheduling.clock(), this.pace);
	}

	/**
	 * As {@link #look()}, and makes up for a firing that only others' haste prevented.
	 */
	void missed(Firing firing) {
		this.look.missed(firing);
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
			// What was told until now is looked at then
			boolean unused = beginLook();
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
		this.look.endWatch();
	}

	private void work() {
		Duration pause = null;
		try {
			pause = beginLook() ? this.look.once(this::look) : null;
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
			this.look.endWatch();
		}
		else if (again) {
			look();
		}
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

}
