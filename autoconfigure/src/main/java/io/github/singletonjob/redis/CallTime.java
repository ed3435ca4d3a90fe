package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The time that one call may take, over all that it waits for.
 */
final class CallTime {

	/** A Redis that says nothing for so long has not heard, however long the lease is. */
	private static final Duration LONGEST = Duration.ofSeconds(10);

	private final long end;

	private final boolean interruptible;

	private CallTime(Duration time, boolean interruptible) {
		Duration limit = (time.compareTo(LONGEST) < 0) ? time : LONGEST;
		this.end = System.nanoTime() + limit.toNanos();
		this.interruptible = interruptible;
	}

	/** A call that an interrupt of its thread ends. */
	static CallTime interruptible(Duration time) {
		return new CallTime(time, true);
	}

	/** A call that is also made, and waited for, on an interrupted thread. */
	static CallTime uninterruptible(Duration time) {
		return new CallTime(time, false);
	}

	/**
	 * Waits until something is done, or the time is over, or the thread is interrupted;
	 * an interrupt stays set.
	 * @return whether it is done, in whatever way
	 */
	boolean await(CompletableFuture<?> awaited) {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					awaited.get(Math.max(0, this.end - System.nanoTime()), TimeUnit.NANOSECONDS);
					return true;
				}
				catch (InterruptedException ex) {
					interrupted = true;
					if (this.interruptible) {
						return awaited.isDone();
					}
				}
			}
		}
		catch (TimeoutException ex) {
			return awaited.isDone();
		}
		catch (ExecutionException | CancellationException ex) {
			return true; // whoever asked looks at how it was done
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
