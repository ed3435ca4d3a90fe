package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Something to be done on the thread of a session, and the answer to it. Caller and
 * session can both end it; whoever comes first decides. If the caller has stopped
 * waiting, the session undoes what was done.
 *
 * @param <T> the type of the answer
 */
final class SessionCall<T> {

	private static final Log logger = LogFactory.getLog(SessionCall.class);

	private final Rank rank;

	private final String purpose;

	private final Work<T> work;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	/**
	 * Creates a call.
	 * @param rank what it gives way to
	 * @param purpose what it is for, as the beginning of an error message
	 * @param work what is to be done
	 */
	SessionCall(Rank rank, String purpose, Work<T> work) {
		this.rank = rank;
		this.purpose = purpose;
		this.work = work;
	}

	Rank rank() {
		return this.rank;
	}

	String purpose() {
		return this.purpose;
	}

	/** Called by the session. */
	void perform(LeaseConnection connection) throws SQLException {
		if (this.answer.isDone()) {
			this.work.forget();
			return;
		}
		T result = this.work.perform(connection);
		if (!this.answer.complete(result)) {
			this.work.undo(connection);
		}
	}

	/** Called by the session: there will be no answer but this. */
	void fail(Exception failure) {
		if (!this.answer.completeExceptionally(failure)) {
			logger.debug("A call that nobody waits for any more has failed", failure);
			this.work.forget();
		}
	}

	/**
	 * Waits for the answer and stops waiting when the time is over or the thread is
	 * interrupted; then the session undoes what it does.
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @throws SessionEndedException if the session is over
	 * @throws SQLException if the server refused
	 * @throws LeaseStoreException if there is no answer
	 */
	T await(long deadline) throws SessionEndedException, SQLException {
		try {
			return this.answer.get(nanosUntil(deadline), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw rethrown(ex.getCause());
		}
		catch (TimeoutException ex) {
			return lastLook("no answer from Postgres in time", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return lastLook("the thread was interrupted before Postgres answered", ex);
		}
	}

	private T lastLook(String message, Exception cause) throws SessionEndedException, SQLException {
		if (this.answer.cancel(false)) {
			throw new LeaseStoreException(this.purpose + " failed: " + message, cause);
		}
		try {
			return this.answer.join();
		}
		catch (CompletionException ex) {
			throw rethrown(ex.getCause());
		}
	}

	/**
	 * Waits for the answer, also on an interrupted thread, and never stops the call.
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @throws SessionEndedException if the session is over
	 * @throws SQLException if the server refused
	 * @throws LeaseStoreException if there is no answer yet
	 */
	T awaitUninterruptibly(long deadline) throws SessionEndedException, SQLException {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return this.answer.get(nanosUntil(deadline), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			throw rethrown(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new LeaseStoreException(this.purpose + " failed: no answer from Postgres in time", ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Stops waiting: the session undoes what it does. */
	void abandon() {
		this.answer.cancel(false);
	}

	/** Whether the caller has stopped waiting before there was an answer. */
	boolean isAbandoned() {
		return this.answer.isCancelled();
	}

	private static RuntimeException rethrown(@Nullable Throwable cause) throws SessionEndedException, SQLException {
		if (cause instanceof SessionEndedException ended) {
			throw ended;
		}
		if (cause instanceof SQLException refused) {
			throw refused;
		}
		if (cause instanceof LeaseStoreException unknown) {
			return unknown;
		}
		return new LeaseStoreException("The Postgres lease session has failed unexpectedly", cause);
	}

	static long nanosUntil(long deadline) {
		return Math.max(0, deadline - System.nanoTime());
	}

	static long deadlineIn(Duration time) {
		return System.nanoTime() + time.toNanos();
	}

	/**
	 * What is served first: renewals before all, so that nothing can starve them.
	 */
	enum Rank {

		RENEW, RELEASE, ACQUIRE, INSPECT

	}

	/**
	 * What is to be done.
	 *
	 * @param <T> the type of the answer
	 */
	interface Work<T> {

		T perform(LeaseConnection connection) throws SQLException;

		/** It was done, but nobody waits for it any more: leaves nothing behind. */
		default void undo(LeaseConnection connection) throws SQLException {
		}

		/** It was not done, or is over with its session, and nobody waits for it. */
		default void forget() {
		}

	}

}
