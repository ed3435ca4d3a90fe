package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * When a lane is to renew next. A tick that is planned takes the place of the one that
 * was pending: that one still comes, and does not count.
 */
final class RenewalTick {

	private final ReentrantLock ticking = new ReentrantLock();

	private final JobTimer timer;

	private final RenewalWatch watch;

	private final Runnable due;

	// Only the tick with this number counts; 0 if none is pending
	private long pendingTick;

	private long ticks;

	/**
	 * Creates a tick that is not planned.
	 * @param timer brings it
	 * @param watch is told when it is planned
	 * @param due called on the timer's thread when it has come
	 */
	RenewalTick(JobTimer timer, RenewalWatch watch, Runnable due) {
		this.timer = timer;
		this.watch = watch;
		this.due = due;
	}

	/** Plans a tick unless one is pending, or whoever is busy now will plan it. */
	void ensureAfter(Duration delay, BooleanSupplier busy) {
		this.ticking.lock();
		try {
			if (this.pendingTick == 0 && !busy.getAsBoolean()) {
				after(delay);
			}
		}
		finally {
			this.ticking.unlock();
		}
	}

	void after(Duration delay) {
		this.ticking.lock();
		try {
			this.ticks++;
			long number = this.ticks;
			this.pendingTick = number;
			this.watch.planned(delay);
			this.timer.after(delay, () -> tick(number));
		}
		finally {
			this.ticking.unlock();
		}
	}

	private void tick(long number) {
		this.ticking.lock();
		try {
			if (this.pendingTick != number) {
				return;
			}
			this.pendingTick = 0;
		}
		finally {
			this.ticking.unlock();
		}
		this.due.run();
	}

}
