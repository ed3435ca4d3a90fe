package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;

/**
 * Time that the test moves: clocks, timer and workers in one. Tasks run on the thread
 * that moves the time, in the order of their times.
 */
class VirtualTime implements JobClock, JobTimer, Executor {

	private final PriorityQueue<Entry> entries = new PriorityQueue<>(
			Comparator.comparingLong(Entry::due).thenComparingLong(Entry::sequence));

	private final Deque<Runnable> stuck = new ArrayDeque<>();

	private long nanos = 1_000_000_000L;

	private long wallMillis = 1_800_000_000_000L;

	private long sequence;

	private boolean workersStuck;

	@Override
	public long nanoTime() {
		return this.nanos;
	}

	@Override
	public long wallMillis() {
		return this.wallMillis;
	}

	@Override
	public Runnable after(Duration delay, Runnable task) {
		Entry entry = new Entry(this.nanos + Math.max(0, delay.toNanos()), this.sequence++, task);
		this.entries.add(entry);
		return () -> this.entries.remove(entry);
	}

	@Override
	public void execute(Runnable task) {
		if (this.workersStuck) {
			this.stuck.add(task);
		}
		else {
			task.run();
		}
	}

	/** From here on workers take tasks and do not finish them. */
	void stickWorkers() {
		this.workersStuck = true;
	}

	/** Finishes what was stuck. */
	void releaseWorkers() {
		this.workersStuck = false;
		while (!this.stuck.isEmpty()) {
			this.stuck.remove().run();
		}
	}

	/** Time passes, and everything that is due happens. */
	void advance(Duration duration) {
		long end = this.nanos + duration.toNanos();
		while (!this.entries.isEmpty() && this.entries.peek().due() <= end) {
			Entry next = this.entries.remove();
			moveTo(Math.max(this.nanos, next.due()));
			next.task().run();
		}
		moveTo(Math.max(this.nanos, end));
	}

	/** Time passes while this process does nothing: a pause. */
	void freeze(Duration duration) {
		moveTo(this.nanos + duration.toNanos());
	}

	/** Only the wall clock moves: a suspended machine, or a step. */
	void stepWallClock(Duration duration) {
		this.wallMillis += duration.toMillis();
	}

	private void moveTo(long target) {
		this.wallMillis += (target - this.nanos) / 1_000_000;
		this.nanos = target;
	}

	private record Entry(long due, long sequence, Runnable task) {
	}

}
