package io.github.singletonjob.lease;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * One call to the server of a store: what it is for, and how long it may take in all,
 * whatever it waits for. For one thread. Every wait leaves an interrupt of the thread
 * set.
 */
public final class StoreCall {

	private final String purpose;

	private final long end;

	private final boolean interruptible;

	private StoreCall(String purpose, Duration timeout, boolean interruptible) {
		this.purpose = purpose;
		this.end = System.nanoTime() + timeout.toNanos();
		this.interruptible = interruptible;
	}

	/**
	 * A call that an interrupt of its thread ends.
	 * @param purpose what it is for, as the beginning of an error message
	 * @param timeout how long it may take
	 * @return a call that begins now
	 */
	public static StoreCall interruptible(String purpose, Duration timeout) {
		return new StoreCall(purpose, timeout, true);
	}

	/**
	 * A call that is also made, and waited for, on an interrupted thread.
	 * @param purpose what it is for, as the beginning of an error message
	 * @param timeout how long it may take
	 * @return a call that begins now
	 */
	public static StoreCall uninterruptible(String purpose, Duration timeout) {
		return new StoreCall(purpose, timeout, false);
	}

	/**
	 * Waits until something is done, the time is over or, if the call is interruptible,
	 * the thread is interrupted.
	 * @param awaited what to wait for
	 * @return whether it is done, with or without success
	 */
	public boolean await(CompletableFuture<?> awaited) {
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
			return true; // the caller looks at how it ended
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Waits for an answer.
	 * @param <T> the type of the answer
	 * @param reply the answer to be
	 * @param explain says in a few words what a failure means
	 * @return the answer
	 * @throws LeaseStoreException if there is none, or the server refused
	 */
	public <T> T answer(CompletableFuture<T> reply, Function<Throwable, String> explain) {
		if (!await(reply)) {
			throw (this.interruptible && Thread.currentThread().isInterrupted())
					? unknown("the thread was interrupted before there was an answer", null)
					: unknown("no answer in time", new TimeoutException());
		}
		try {
			return reply.join();
		}
		catch (CompletionException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			throw unknown(explain.apply(cause), cause);
		}
		catch (CancellationException ex) {
			throw unknown(explain.apply(ex), ex);
		}
	}

	/**
	 * Says that the outcome of the call is unknown.
	 * @param reason why, as the end of the message
	 * @param cause the client library's exception, or null
	 * @return an exception to throw
	 */
	public LeaseStoreException unknown(String reason, @Nullable Throwable cause) {
		return new LeaseStoreException(this.purpose + " failed: " + reason, cause);
	}

}
