package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.singletonjob.lease.LeaseStoreException;

/**
 * Waits for replies, each time for as long as the call as a whole may take.
 */
final class Replies {

	private Replies() {
	}

	static long deadlineIn(Duration time) {
		return System.nanoTime() + time.toNanos();
	}

	/**
	 * Waits for a reply.
	 * @param reply what is waited for
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @param purpose what the call is for, as the beginning of an error message
	 * @throws LeaseStoreException if there is none, or if etcd refused
	 */
	static <T> T await(CompletableFuture<T> reply, long deadline, String purpose) {
		try {
			return reply.get(nanosUntil(deadline), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw EtcdFailure.unknown(purpose, cause(ex));
		}
		catch (TimeoutException ex) {
			throw EtcdFailure.unknown(purpose, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LeaseStoreException(purpose + " failed: the thread was interrupted before etcd answered", ex);
		}
	}

	/** As {@link #await}, also on an interrupted thread. */
	static <T> T awaitUninterruptibly(CompletableFuture<T> reply, long deadline, String purpose) {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return reply.get(nanosUntil(deadline), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			throw EtcdFailure.unknown(purpose, cause(ex));
		}
		catch (TimeoutException ex) {
			throw EtcdFailure.unknown(purpose, ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static Throwable cause(ExecutionException ex) {
		Throwable cause = ex.getCause();
		return (cause != null) ? cause : ex;
	}

	private static long nanosUntil(long deadline) {
		return Math.max(0, deadline - System.nanoTime());
	}

}
