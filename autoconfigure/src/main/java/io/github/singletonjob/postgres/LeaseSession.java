package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One session on the server, and the thread that keeps it.
 * <p>
 * An idle session without leases is used by whoever calls, on the caller's own thread.
 * Everything else is left to the thread of the session, which sends what has gathered
 * meanwhile in one statement for each kind of call: a caller can stop waiting then
 * without ending the session, on which other jobs have their leases, and a renewal
 * overtakes everything that waits. A virtual thread never talks to the server itself,
 * because its interruption closes the socket.
 * <p>
 * The thread opens the session, and ends it when the connection breaks, when it is told
 * to, or when there were neither leases nor calls for half of the time to live; for all
 * of that time if it was never used. A session that has ended does not come back. Its
 * leases end with it, which {@link #isEnded()} tells before anything else is done.
 */
final class LeaseSession {

	private static final Log logger = LogFactory.getLog(LeaseSession.class);

	/** So that a renewal, which comes first, need not wait for long. */
	private static final int MOST_TOGETHER = 100;

	private final ReentrantLock access = new ReentrantLock();

	private final Condition changed = this.access.newCondition();

	private final List<SessionCall<?, ?>> waiting = new ArrayList<>();

	private final Set<Claim> leases = ConcurrentHashMap.newKeySet();

	private final CountDownLatch opened = new CountDownLatch(1);

	private final CompletableFuture<String> findings = new CompletableFuture<>();

	private final Sessions sessions;

	private final String applicationName;

	private final Times times;

	private final Thread thread;

	private volatile boolean ended;

	private volatile @Nullable Throwable failure;

	private volatile @Nullable LeaseStatements statements;

	private boolean busy;

	private boolean used;

	private long lastUse = System.nanoTime();

	private final boolean writer;

	LeaseSession(Sessions sessions, boolean writer, String applicationName, Times times) {
		this.sessions = sessions;
		this.writer = writer;
		this.applicationName = applicationName;
		this.times = times;
		// Inherits nothing from the thread of whichever job comes first; but drivers are
		// looked for by a thread's class loader
		this.thread = new Thread(null, this::live,
				"singleton-job-postgres-" + (writer ? "rows-" : "") + times.ttlMillis() + "ms", 0, false);
		this.thread.setDaemon(true);
		this.thread.setContextClassLoader(getClass().getClassLoader());
	}

	void start() {
		this.thread.start();
	}

	Times times() {
		return this.times;
	}

	/** Whether it writes rows and never has leases. */
	boolean isWriter() {
		return this.writer;
	}

	boolean isEnded() {
		return this.ended;
	}

	/** Whether a call would be performed at once. */
	boolean isIdle() {
		this.access.lock();
		try {
			return !this.busy && this.waiting.isEmpty() && this.statements != null;
		}
		finally {
			this.access.unlock();
		}
	}

	boolean isOpen() {
		return this.statements != null;
	}

	int waiting() {
		this.access.lock();
		try {
			return this.waiting.size();
		}
		finally {
			this.access.unlock();
		}
	}

	/** For those that perform calls. */
	LeaseStatements statements() {
		LeaseStatements current = this.statements;
		if (current == null) {
			throw new IllegalStateException("The session is not open yet");
		}
		return current;
	}

	/** The advisory lock of this claim belongs to the session now. */
	void hold(Claim claim) {
		this.leases.add(claim);
	}

	/** The session does not have the advisory lock any more. */
	void letGo(Claim claim) {
		claim.drop();
		this.leases.remove(claim);
	}

	/** Whether no other lease can suffer from a call for this claim. */
	boolean holdsNothingBut(Claim claim) {
		return this.leases.isEmpty() || (this.leases.size() == 1 && this.leases.contains(claim));
	}

	/**
	 * Waits until the session is open, which takes several round trips, or has ended.
	 * @param purpose what for, as the beginning of an error message
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @throws LeaseStoreException if it takes too long or the thread is interrupted
	 */
	void awaitOpen(String purpose, long deadline) {
		try {
			if (!this.opened.await(nanosUntil(deadline), TimeUnit.NANOSECONDS)) {
				throw new LeaseStoreException(
						purpose + " failed: no session was open in time. If that repeats,"
								+ " Postgres does not answer, or connections to it take longer than a third of the ttl",
						null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LeaseStoreException(purpose + " failed: the thread was interrupted before a session was open",
					ex);
		}
	}

	/**
	 * Has a call performed, on this thread or by that of the session.
	 * @param call the call
	 * @param deadline until when this thread may perform it, in {@link System#nanoTime()}
	 */
	<Q, A> void submit(SessionCall<Q, A> call, long deadline) {
		if (enterOrQueue(call)) {
			performHere(call, deadline);
		}
	}

	private boolean enterOrQueue(SessionCall<?, ?> call) {
		boolean mayBeHere = call.kind().byCaller() && !isVirtual(Thread.currentThread());
		this.access.lock();
		try {
			if (this.ended) {
				call.fail(endedException());
				return false;
			}
			boolean alone = this.leases.isEmpty()
					|| (call.asked() instanceof LeaseStatements.Ended release && holdsNothingBut(release.claim()));
			if (mayBeHere && alone && isIdle()) {
				this.busy = true;
				return true;
			}
			this.waiting.add(call);
			this.changed.signal();
			return false;
		}
		finally {
			this.access.unlock();
		}
	}

	/** The name of the group is documented; Java 17 knows no virtual threads. */
	private static boolean isVirtual(Thread thread) {
		ThreadGroup group = thread.getThreadGroup();
		return group != null && group.getName().equals("VirtualThreads");
	}

	private <Q, A> void performHere(SessionCall<Q, A> call, long deadline) {
		try {
			perform(call.kind(), List.of(call), Duration.ofNanos(nanosUntil(deadline)));
		}
		catch (Throwable ex) {
			this.ended = true;
			this.failure = ex;
			statements().end();
			call.fail(endedException());
		}
		finally {
			performed();
		}
	}

	private void performed() {
		this.access.lock();
		try {
			this.busy = false;
			this.used = true;
			this.lastUse = System.nanoTime();
			if (this.ended || !this.waiting.isEmpty()) {
				this.changed.signalAll();
			}
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Takes a call back that was not sent yet.
	 * @return whether it never will be
	 */
	boolean withdraw(SessionCall<?, ?> call) {
		this.access.lock();
		try {
			return this.waiting.remove(call);
		}
		finally {
			this.access.unlock();
		}
	}

	/** Ends the session, also while somebody waits for a reply. */
	void end() {
		this.ended = true;
		LeaseStatements current = this.statements;
		if (current != null) {
			current.end();
		}
		this.opened.countDown();
		this.access.lock();
		try {
			this.changed.signalAll();
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Waits for the thread of an ended session.
	 * @param millis how long, in milliseconds
	 * @throws InterruptedException if the caller was interrupted
	 */
	void awaitEnd(long millis) throws InterruptedException {
		this.thread.join(Math.max(1, millis));
	}

	/**
	 * What a session that did not answer was found to wait for.
	 * @param patience how long to wait for that
	 * @return the end of an error message, empty if there is nothing to say
	 */
	String findings(Duration patience) {
		try {
			return this.findings.get(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return "";
		}
		catch (ExecutionException | TimeoutException ex) {
			return "";
		}
	}

	private void live() {
		boolean unanswered = false;
		try {
			this.statements = this.sessions.open(this.applicationName, this.times);
			this.lastUse = System.nanoTime();
			this.opened.countDown();
			serve();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (Throwable ex) {
			this.ended = true;
			if (this.failure == null) {
				this.failure = ex;
			}
			unanswered = true;
		}
		finally {
			unanswered |= this.failure != null;
			this.ended = true;
			finish(unanswered && !this.sessions.isClosed());
		}
	}

	private void serve() throws SQLException, InterruptedException {
		for (List<SessionCall<?, ?>> batch = next(); !batch.isEmpty(); batch = next()) {
			try {
				perform(batch);
			}
			catch (Throwable ex) {
				this.ended = true;
				this.failure = ex;
				statements().end();
				batch.forEach((call) -> call.fail(endedException()));
				return;
			}
			finally {
				performed();
			}
		}
	}

	/** The next calls of one kind; none if the session is to end. */
	private List<SessionCall<?, ?>> next() throws InterruptedException {
		this.access.lock();
		try {
			while (!this.ended) {
				if (!this.busy && !this.waiting.isEmpty()) {
					this.busy = true;
					return drain();
				}
				long patience = this.used ? this.times.unusedMillis() : this.times.ttlMillis();
				long left = this.lastUse + TimeUnit.MILLISECONDS.toNanos(patience) - System.nanoTime();
				boolean needed = this.busy || !this.leases.isEmpty();
				if (!needed && left <= 0) {
					this.ended = true;
				}
				else {
					this.changed.awaitNanos(needed ? TimeUnit.MILLISECONDS.toNanos(patience) : left);
				}
			}
			return List.of();
		}
		finally {
			this.access.unlock();
		}
	}

	private List<SessionCall<?, ?>> drain() {
		SessionCall.Kind<?, ?> kind = this.waiting.get(0).kind();
		for (SessionCall<?, ?> call : this.waiting) {
			kind = (call.kind().rank() < kind.rank()) ? call.kind() : kind;
		}
		List<SessionCall<?, ?>> batch = new ArrayList<>();
		for (Iterator<SessionCall<?, ?>> calls = this.waiting.iterator(); calls.hasNext()
				&& batch.size() < MOST_TOGETHER;) {
			SessionCall<?, ?> call = calls.next();
			if (call.kind().equals(kind)) {
				batch.add(call);
				calls.remove();
			}
		}
		return batch;
	}

	@SuppressWarnings("unchecked") // all of one kind, and so of one type
	private <Q, A> void perform(List<SessionCall<?, ?>> batch) throws SQLException {
		List<SessionCall<Q, A>> calls = new ArrayList<>();
		batch.forEach((call) -> calls.add((SessionCall<Q, A>) call));
		SessionCall.Kind<Q, A> kind = calls.get(0).kind();
		boolean patient = kind.seenThrough() || !this.leases.isEmpty();
		perform(kind, calls, patient ? this.times.ttl() : this.times.callTimeout());
	}

	private <Q, A> void perform(SessionCall.Kind<Q, A> kind, List<SessionCall<Q, A>> calls, Duration limit)
			throws SQLException {
		try {
			statements().limitReply(limit);
			List<A> answers = kind.statement().execute(this, calls.stream().map(SessionCall::asked).toList());
			for (int i = 0; i < answers.size(); i++) {
				calls.get(i).answer(answers.get(i));
			}
		}
		catch (SQLException ex) {
			if (statements().isBroken(ex)) {
				throw ex;
			}
			if (calls.size() == 1 || !kind.refusedAlone()) {
				calls.forEach((call) -> call.fail(ex));
				return;
			}
			for (SessionCall<Q, A> call : calls) {
				if (!call.isDone()) {
					perform(kind, List.of(call), limit);
				}
			}
		}
	}

	/** Does all of it, whatever fails. */
	private void finish(boolean unanswered) {
		try {
			LeaseStatements current = this.statements;
			if (current != null) {
				current.end();
			}
		}
		finally {
			try {
				this.sessions.ended(this);
				tellLosses();
			}
			finally {
				this.leases.forEach(Claim::drop);
				this.opened.countDown();
				refuseAll();
				this.findings.complete(unanswered ? investigate() : "");
			}
		}
	}

	private void tellLosses() {
		if (this.failure != null && !this.leases.isEmpty()) {
			logger.warn(this.leases.stream().map((claim) -> claim.job().name()).collect(Collectors.joining(", "))
					+ ": lease lost. " + endedException().getMessage());
		}
	}

	private void refuseAll() {
		List<SessionCall<?, ?>> calls;
		this.access.lock();
		try {
			calls = List.copyOf(this.waiting);
			this.waiting.clear();
		}
		finally {
			this.access.unlock();
		}
		calls.forEach((call) -> call.fail(endedException()));
	}

	/**
	 * Ends the backend of a reply that did not come: a wait for replication, and on some
	 * platforms any statement, would otherwise keep its locks after the connection is
	 * gone.
	 */
	private String investigate() {
		LeaseStatements last = this.statements;
		return (last != null) ? this.sessions.endBackend(last.backend(), this.applicationName) : "";
	}

	private Exception endedException() {
		Throwable cause = this.failure;
		if (cause instanceof LeaseStoreException said) {
			return said;
		}
		if (cause instanceof SQLException refused) {
			return new EndedException("The lease session has ended: " + SqlFailure.explain(refused), refused);
		}
		return (cause != null) ? new EndedException("The lease session has failed unexpectedly: " + cause, cause)
				: new EndedException("The lease session is closed", null);
	}

	static long nanosUntil(long deadline) {
		return Math.max(0, deadline - System.nanoTime());
	}

	static long deadlineIn(Duration time) {
		return System.nanoTime() + time.toNanos();
	}

	/**
	 * The session on which a call was to be made is over, and with it, on the server,
	 * every advisory lock that it held.
	 */
	static final class EndedException extends Exception {

		private static final long serialVersionUID = 1L;

		EndedException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

	/**
	 * How long things may take on a session, for all requests that are made on it.
	 *
	 * @param ttl how long the server keeps a session that it does not hear of; this is
	 * the lease's time to live
	 * @param callTimeout how long a caller waits for an answer
	 */
	record Times(Duration ttl, Duration callTimeout) {

		static Times of(LeaseRequest request) {
			return new Times(request.ttl(), request.callTimeout());
		}

		/**
		 * How long a caller waits for a new session to be open, the first probe included.
		 * A third of the time to live, so that a lease that is granted after it is still
		 * good.
		 */
		Duration openingTimeout() {
			Duration third = this.ttl.dividedBy(3);
			return (third.compareTo(this.callTimeout) > 0) ? third : this.callTimeout;
		}

		/**
		 * How long a statement may wait for a row or a table, in milliseconds: a third of
		 * the call, so that what waits behind it still comes back in time.
		 */
		long lockTimeoutMillis() {
			return Math.max(1, this.callTimeout.toMillis() / 3);
		}

		/**
		 * How long a statement may take, in milliseconds: less than the call, for the
		 * same reason.
		 */
		long statementTimeoutMillis() {
			return Math.max(2, this.callTimeout.toMillis() * 2 / 3);
		}

		/** The time to live in milliseconds, within what the server can take. */
		long ttlMillis() {
			return Math.min(Integer.MAX_VALUE, Math.max(1, this.ttl.toMillis()));
		}

		/**
		 * After how much time without leases and calls a used session is closed, in
		 * milliseconds.
		 */
		long unusedMillis() {
			return Math.max(1, ttlMillis() / 2);
		}

	}

}
