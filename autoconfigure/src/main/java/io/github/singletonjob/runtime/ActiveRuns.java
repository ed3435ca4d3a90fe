package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * The attempts and runs of this instance, so that a stop can refuse new ones, cancel
 * those that go on, and wait for them.
 */
final class ActiveRuns {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition idle = this.lock.newCondition();

	private final Set<ActiveRun> runs = ConcurrentHashMap.newKeySet();

	private int attempts;

	private boolean stopping;

	/**
	 * Counts an attempt, until {@link #end()}; refused when the application stops, except
	 * for what a run starts that may finish.
	 */
	void begin(String job, @Nullable LeasedRun enclosing) {
		this.lock.lock();
		try {
			if (this.stopping && !isFinishing(enclosing)) {
				throw new IllegalStateException(job + ": not started, because the application is stopping");
			}
			this.attempts++;
		}
		finally {
			this.lock.unlock();
		}
	}

	void end() {
		this.lock.lock();
		try {
			this.attempts--;
			this.idle.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	void add(ActiveRun run) {
		this.runs.add(run);
		if (isStopping() && !isFinishing(run.enclosing().orElse(null))) {
			boolean unused = cancel(run);
		}
	}

	void remove(ActiveRun run) {
		this.runs.remove(run);
	}

	/** Refuses new attempts from here on, and cancels all runs. */
	void cancelAll(Consumer<ActiveRun> cancelled) {
		setStopping(true);
		this.runs.stream().filter(ActiveRuns::cancel).forEach(cancelled);
	}

	/**
	 * Refuses new attempts from here on, and cancels the runs that may not finish;
	 * answers those that may.
	 */
	List<ActiveRun> stop(Consumer<ActiveRun> cancelled) {
		setStopping(true);
		this.runs.stream().filter((run) -> !isFinishing(run)).filter(ActiveRuns::cancel).forEach(cancelled);
		return this.runs.stream().filter((run) -> run.enclosing().isEmpty() && isFinishing(run)).toList();
	}

	/** Cancels a run, and those that were started in it. */
	void cancelWithNested(ActiveRun run, Consumer<ActiveRun> cancelled) {
		this.runs.stream().filter((active) -> active.isOrIsInside(run)).filter(ActiveRuns::cancel).forEach(cancelled);
	}

	/** The outermost run decides, since all of them have one thread. */
	private static boolean isFinishing(@Nullable LeasedRun run) {
		if (!(run instanceof ActiveRun active) || active.life().firstEnd() != null) {
			return false;
		}
		LeasedRun around = active.enclosing().orElse(null);
		return (around != null) ? isFinishing(around) : active.settings().onShutdown() == OnShutdown.FINISH;
	}

	/** Allows attempts again, after a stop. */
	void resume() {
		setStopping(false);
	}

	private void setStopping(boolean stopping) {
		this.lock.lock();
		try {
			this.stopping = stopping;
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean awaitIdle(Duration timeout) throws InterruptedException {
		long left = timeout.toNanos();
		this.lock.lockInterruptibly();
		try {
			while (this.attempts > 0 && left > 0) {
				left = this.idle.awaitNanos(left);
			}
			return this.attempts == 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean isStopping() {
		this.lock.lock();
		try {
			return this.stopping;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static boolean cancel(ActiveRun run) {
		return run.life()
			.end(new RunEnd(RunOutcome.CANCELLED, "it was cancelled, because the application is stopping"));
	}

}
