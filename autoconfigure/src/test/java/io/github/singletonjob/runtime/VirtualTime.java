package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Time that the test moves: clocks, timer and workers in one. Tasks run on the thread
 * that moves the time, in the order of their times. Another thread may read the time, and
 * start and cancel timers.
 */
class VirtualTime implements JobClock, JobTimer, Executor {

	private final Queue<Entry> entries = new PriorityBlockingQueue<>(16,
			Comparator.comparingLong(Entry::due).thenComparingLong(Entry::sequence));

	private final Deque<Runnable> stuck = new ArrayDeque<>();

	private final AtomicLong sequence = new AtomicLong();

	private volatile long nanos = 1_000_000_000L;

	private long wallMillis = 1_800_000_000_000L;

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
		Entry entry = new Entry(this.nanos + Math.max(0, delay.toNanos()), this.sequence.getAndIncrement(), task);
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

	/** Time passes meanwhile. */
	@Override
	public void await(CompletableFuture<?> done, Duration atMost) {
		long end = this.nanos + atMost.toNanos();
		while (!done.isDone() && !this.entries.isEmpty() && this.entries.peek().due() <= end) {
			advance(Duration.ofNanos(Math.max(0, this.entries.peek().due() - this.nanos)));
		}
		if (!done.isDone()) {
			moveTo(Math.max(this.nanos, end));
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
		for (Entry next = pollUntil(end); next != null; next = pollUntil(end)) {
			moveTo(Math.max(this.nanos, next.due()));
			next.task().run();
		}
		moveTo(Math.max(this.nanos, end));
	}

	private @Nullable Entry pollUntil(long end) {
		Entry next = this.entries.poll();
		if (next != null && next.due() > end) {
			this.entries.add(next);
			return null;
		}
		return next;
	}

	/** Returns when another thread has started a timer of that length. */
	void awaitTimer(Duration delay) {
		long due = this.nanos + delay.toNanos();
		Awaitility.await().until(() -> this.entries.stream().anyMatch((entry) -> entry.due() == due));
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
