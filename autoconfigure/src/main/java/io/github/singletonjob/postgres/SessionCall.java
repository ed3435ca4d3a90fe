package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Something that is asked of a session, and the answer. Caller and session can both end
 * it; the first to do so decides. If the caller has stopped waiting, what was done is
 * given to {@link #undo}.
 *
 * @param <Q> what is asked
 * @param <A> the answer
 */
final class SessionCall<Q, A> {

	private final CompletableFuture<A> answer = new CompletableFuture<>();

	private final Kind<Q, A> kind;

	private final Q asked;

	private final String purpose;

	private final Consumer<A> undo;

	/**
	 * Creates a call.
	 * @param kind its kind
	 * @param asked what is asked
	 * @param purpose what it is for, as the beginning of an error message
	 * @param undo is given an answer that came when the caller had stopped waiting;
	 * called by the session
	 */
	SessionCall(Kind<Q, A> kind, Q asked, String purpose, Consumer<A> undo) {
		this.kind = kind;
		this.asked = asked;
		this.purpose = purpose;
		this.undo = undo;
	}

	SessionCall(Kind<Q, A> kind, Q asked, String purpose) {
		this(kind, asked, purpose, (late) -> {
		});
	}

	Kind<Q, A> kind() {
		return this.kind;
	}

	Q asked() {
		return this.asked;
	}

	boolean isDone() {
		return this.answer.isDone();
	}

	/** Whether the caller has stopped waiting before there was an answer. */
	boolean isAbandoned() {
		return this.answer.isCancelled();
	}

	/** Stops waiting. */
	void abandon() {
		this.answer.cancel(false);
	}

	/**
	 * Says that the reply did not come.
	 * @param findings the end of the message
	 */
	LeaseStoreException unanswered(String findings, Throwable cause) {
		return new LeaseStoreException(this.purpose + " failed: no answer from Postgres in time" + findings, cause);
	}

	void answer(A result) {
		if (!this.answer.complete(result)) {
			this.undo.accept(result);
		}
	}

	/** There will be no answer but this. */
	void fail(Throwable failure) {
		this.answer.completeExceptionally(failure);
	}

	/**
	 * Waits for the answer and stops waiting when the time is over or the thread is
	 * interrupted.
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @throws LeaseSession.EndedException if the session is over
	 * @throws SQLException if the server refused
	 * @throws LeaseStoreException if there is no answer
	 */
	A await(long deadline) throws LeaseSession.EndedException, SQLException {
		try {
			return this.answer.get(LeaseSession.nanosUntil(deadline), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw rethrown(ex.getCause());
		}
		catch (TimeoutException ex) {
			return lastLook(unanswered("", ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return lastLook(new LeaseStoreException(
					this.purpose + " failed: the thread was interrupted before Postgres answered", ex));
		}
	}

	private A lastLook(LeaseStoreException unknown) throws LeaseSession.EndedException, SQLException {
		if (this.answer.cancel(false)) {
			throw unknown;
		}
		try {
			return this.answer.join();
		}
		catch (CompletionException ex) {
			throw rethrown(ex.getCause());
		}
	}

	/** What comes of it, for those who go on from there. */
	CompletableFuture<A> outcome() {
		return this.answer.copy();
	}

	private RuntimeException rethrown(@Nullable Throwable cause) throws LeaseSession.EndedException, SQLException {
		if (cause instanceof LeaseSession.EndedException ended) {
			throw ended;
		}
		if (cause instanceof SQLException refused) {
			throw refused;
		}
		if (cause instanceof LeaseStoreException unknown) {
			return unknown;
		}
		return new LeaseStoreException(this.purpose + " failed: the Postgres lease session has failed unexpectedly",
				cause);
	}

	/**
	 * A kind of calls, of which those that wait are sent together.
	 *
	 * @param <Q> what is asked
	 * @param <A> the answer
	 * @param rank what is served first: the smaller
	 * @param byCaller whether an idle session may be used by the thread of the caller
	 * @param seenThrough whether the call goes on when its caller has stopped waiting
	 * @param refusedAlone whether what the server refuses is sent again one by one,
	 * because a single one may be the reason
	 * @param statement sends several and answers each, in their order
	 */
	record Kind<Q, A>(int rank, boolean byCaller, boolean seenThrough, boolean refusedAlone,
			Statement<Q, A> statement) {
	}

	/**
	 * What is sent.
	 *
	 * @param <Q> what is asked
	 * @param <A> the answer
	 */
	interface Statement<Q, A> {

		List<A> execute(LeaseSession session, List<Q> asked) throws SQLException;

	}

}
