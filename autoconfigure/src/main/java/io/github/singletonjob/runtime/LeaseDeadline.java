package io.github.singletonjob.runtime;

import java.time.Duration;

import io.github.singletonjob.runtime.JobClock.Moment;

/**
 * How long a holder may rely on its lease. The deadline counts from before the confirmed
 * request was <em>sent</em>, on the monotonic clock: the store's own count begins later,
 * so the holder stops first. (The DynamoDB lock client measures in the same way.)
 * <p>
 * The monotonic clock stands still while a machine is suspended. When the wall clock has
 * advanced by more than the margin beyond it since the last confirmation, the lease
 * counts as not confirmed until a renewal succeeds. A wall clock that was set back
 * changes nothing.
 */
final class LeaseDeadline {

	private final JobClock clock;

	private final LeaseTiming timing;

	private final Moment granted;

	private volatile Moment confirmed;

	LeaseDeadline(JobClock clock, LeaseTiming timing, Moment sent) {
		this.clock = clock;
		this.timing = timing;
		this.granted = sent;
		this.confirmed = sent;
	}

	/** The time since the first request was sent. */
	Duration sinceGrant() {
		return Duration.ofNanos(this.clock.nanoTime() - this.granted.nanos());
	}

	/** Moves the deadline, only ever forward, to count from the sending of a request. */
	synchronized void confirm(Moment sent) {
		if (sent.nanos() - this.confirmed.nanos() > 0) {
			this.confirmed = sent;
		}
	}

	/** The time until the deadline, zero when it has passed. */
	Duration remaining() {
		long elapsed = this.clock.nanoTime() - this.confirmed.nanos();
		long left = this.timing.reliable().toNanos() - elapsed;
		return Duration.ofNanos(Math.max(0, left));
	}

	boolean isPassed() {
		return remaining().isZero();
	}

	/** Whether the clocks still agree about the time since the last confirmation. */
	boolean isConfirmed() {
		Moment last = this.confirmed;
		Moment now = this.clock.now();
		long monotonicMillis = (now.nanos() - last.nanos()) / 1_000_000;
		long wallMillis = now.wallMillis() - last.wallMillis();
		return wallMillis - monotonicMillis <= this.timing.stopEarly().toMillis();
	}

	/** The time since the last confirmed request was sent. */
	Duration age() {
		return Duration.ofNanos(this.clock.nanoTime() - this.confirmed.nanos());
	}

}
