package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.RunOutcome;

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

	/** Counts an attempt, until {@link #end()}; refused when the application stops. */
	void begin(String job) {
		this.lock.lock();
		try {
			if (this.stopping) {
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
		if (isStopping()) {
			boolean unused = cancel(run);
		}
	}

	void remove(ActiveRun run) {
		this.runs.remove(run);
	}

	/** Refuses new attempts from here on, and cancels all runs; answers those. */
	List<ActiveRun> cancelAll() {
		setStopping(true);
		return this.runs.stream().filter(ActiveRuns::cancel).toList();
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
