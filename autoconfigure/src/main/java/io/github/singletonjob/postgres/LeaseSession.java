package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One session on the server, whose life is that of the leases on it, and the one thread
 * that talks to it.
 * <p>
 * Callers hand their calls to that thread and wait for the answer only as long as their
 * call may take. So a reply that comes late costs the caller an "unknown" and not the
 * session; a thread of a job that is interrupted (which closes the socket that a virtual
 * thread reads from) harms no other job; and a renewal overtakes everything that waits.
 * <p>
 * The thread opens the session, serves calls, and ends the session when the connection
 * breaks, when it is told to, or when it had neither leases nor calls for half of the
 * time to live; for all of that time if it never had any, because whoever had it opened
 * may come again. A session that has ended does not come back.
 */
final class LeaseSession {

	private static final Log logger = LogFactory.getLog(LeaseSession.class);

	private final PriorityBlockingQueue<Queued> queue = new PriorityBlockingQueue<>(16,
			Comparator.<Queued, SessionCall.Rank>comparing((queued) -> queued.call().rank())
				.thenComparingLong(Queued::number));

	private final AtomicLong numbers = new AtomicLong();

	private final SessionOpener opener;

	private final Claims claims;

	private final SessionTimes times;

	private final SessionOpening opening = new SessionOpening();

	private final Thread thread;

	private volatile boolean ended;

	private volatile @Nullable Exception failure;

	private volatile @Nullable LeaseConnection connection;

	LeaseSession(SessionOpener opener, Claims claims, SessionTimes times) {
		this.opener = opener;
		this.claims = claims;
		this.times = times;
		// Inherits nothing from the thread of whichever job comes first; but drivers are
		// looked for by a thread's class loader
		this.thread = new Thread(null, this::live, "singleton-job-postgres-" + times.ttlMillis() + "ms", 0, false);
		this.thread.setDaemon(true);
		this.thread.setContextClassLoader(getClass().getClassLoader());
	}

	void start() {
		this.thread.start();
	}

	SessionTimes times() {
		return this.times;
	}

	SessionOpening opening() {
		return this.opening;
	}

	boolean isEnded() {
		return this.ended;
	}

	/**
	 * Has a call performed after those of a higher rank, and after earlier ones of its
	 * own.
	 */
	void submit(SessionCall<?> call) {
		Queued queued = new Queued(call, this.numbers.getAndIncrement());
		this.queue.add(queued);
		if (this.ended && this.queue.remove(queued)) {
			refuse(call);
		}
	}

	/** Ends the session, also while its thread waits for a reply. */
	void end() {
		this.ended = true;
		LeaseConnection current = this.connection;
		if (current != null) {
			current.end();
		}
		this.opening.done();
		// Not submitted, which would refuse it: it wakes the thread
		answerLater(new SessionCall<>(SessionCall.Rank.RENEW, "Closing the session", (connection) -> true));
	}

	/**
	 * Waits for the thread of an ended session.
	 * @param millis how long, in milliseconds
	 * @throws InterruptedException if the caller was interrupted
	 */
	void awaitEnd(long millis) throws InterruptedException {
		this.thread.join(Math.max(1, millis));
	}

	private void live() {
		try {
			LeaseConnection opened = this.opener.open(this.times);
			this.connection = opened;
			this.opening.done();
			serve(opened);
		}
		catch (SQLException ex) {
			if (!this.ended) {
				this.failure = new SessionEndedException("The lease session has ended: " + SqlFailure.explain(ex), ex);
			}
		}
		catch (LeaseStoreException ex) {
			this.failure = ex;
		}
		catch (RuntimeException | Error ex) {
			this.failure = new SessionEndedException("The lease session has failed unexpectedly", ex);
			logger.warn("A Postgres lease session has failed unexpectedly; its leases are lost", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			finish();
		}
	}

	private void serve(LeaseConnection opened) throws SQLException, InterruptedException {
		long patience = this.times.ttlMillis();
		while (!this.ended) {
			Queued next = this.queue.poll(patience, TimeUnit.MILLISECONDS);
			if (next != null) {
				perform(next.call(), opened);
				patience = this.times.unusedMillis();
			}
			else if (!this.claims.anyHeldOn(this)) {
				return;
			}
		}
	}

	private void perform(SessionCall<?> call, LeaseConnection opened) throws SQLException {
		boolean answered = false;
		try {
			boolean leased = this.claims.anyHeldOn(this);
			opened.limitWait(leased ? this.times.ttl() : this.times.callTimeout());
			call.perform(opened);
			answered = true;
		}
		catch (SQLException ex) {
			if (opened.isBroken(ex)) {
				throw ex;
			}
			call.fail(ex);
			answered = true;
		}
		finally {
			if (!answered) {
				answerLater(call);
			}
		}
	}

	/** Whatever has ended the session: when its leases are known to be gone. */
	private void answerLater(SessionCall<?> call) {
		this.queue.add(new Queued(call, -1));
	}

	private void finish() {
		this.ended = true;
		LeaseConnection current = this.connection;
		if (current != null) {
			current.end();
		}
		List<Claim> lost = this.claims.dropHeldOn(this);
		Exception cause = this.failure;
		if (cause != null && !lost.isEmpty()) {
			logger.warn(lost.stream().map((claim) -> claim.job().name()).collect(Collectors.joining(", "))
					+ ": lease lost. " + cause.getMessage());
		}
		this.opener.ended(this);
		this.opening.done();
		for (Queued queued = this.queue.poll(); queued != null; queued = this.queue.poll()) {
			refuse(queued.call());
		}
	}

	private void refuse(SessionCall<?> call) {
		Exception cause = this.failure;
		call.fail((cause != null) ? cause : new SessionEndedException("The lease session is closed", null));
	}

	/**
	 * A call in the queue.
	 *
	 * @param call the call
	 * @param number its place among calls of the same rank
	 */
	private record Queued(SessionCall<?> call, long number) {
	}

}
