package io.github.singletonjob.fencing;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of one connection, one after the other: which runs it belongs to, and
 * how it ends.
 * <p>
 * It belongs to each run that was current, with the runs around it, while the transaction
 * was worked on. What other threads without a run do on a connection that a run has
 * opened belongs to that run, until it has ended. The commit is fenced by all of them,
 * whatever thread it happens on. It can only end by {@link FenceCheck} or by a rollback.
 * When a check or a commit fails, it is rolled back before anything is thrown; when that
 * fails too, the connection is cut, so that no pool can commit what is left.
 */
final class FencedTransaction {

	// Where a thread has begun transactions that may be open still
	private static final ThreadLocal<List<WeakReference<FencedTransaction>>> BEGUN = ThreadLocal
		.withInitial(() -> new ArrayList<>(2));

	private static final String HAS_WRITTEN = "select pg_catalog.pg_current_xact_id_if_assigned() is not null";

	private static final ThreadLocal<Boolean> CHECKING = new ThreadLocal<>();

	private final Connection delegate;

	private final FenceCheck check;

	private final DataSourceGuard guard;

	private final IdleTimeout idleTimeout;

	private final List<LeasedRun> runs = new ArrayList<>(2);

	private @Nullable JobRun lastRun;

	// The run in which the connection was opened, and on which thread
	private @Nullable LeasedRun opener;

	private final Thread openedOn = Thread.currentThread();

	// Whether anything can have been executed since the last transaction ended
	private boolean used;

	// Who has executed something last since then
	private @Nullable Thread usedBy;

	// Whether that was inside a transaction of Spring
	private boolean usedInSpring;

	// Who has switched autocommit off, and so begun a transaction even if it is empty
	private @Nullable Thread begunBy;

	// Whether objects were handed out that write without being seen here
	private boolean mayWriteUnseen;

	// Whether the transaction was begun on this connection, and not by those who have it
	// below
	private boolean begunHere;

	private boolean aborted;

	private final WeakReference<FencedTransaction> self = new WeakReference<>(this);

	FencedTransaction(Connection delegate, DataSourceGuard guard, DataSourceGuard.Checks checks) throws SQLException {
		this.delegate = delegate;
		this.check = checks.check();
		this.guard = guard;
		this.idleTimeout = new IdleTimeout(checks.sessions(), delegate);
		this.used = !delegate.getAutoCommit();
		this.opener = (CurrentJobRun.find().orElse(null) instanceof LeasedRun leased) ? leased : null;
		this.begunHere = this.used && guard.isPool();
	}

	/**
	 * Adds the runs of the calling thread.
	 * @return whether the transaction belongs to any run
	 * @throws IllegalStateException if the thread is bound to a run that carries no
	 * grant, so that nothing could fence what it writes
	 */
	boolean collect() {
		JobRun current = CurrentJobRun.find().orElse(null);
		if (current == null) {
			collectOpener();
		}
		else if (current != this.lastRun) {
			if (!(current instanceof LeasedRun leased)) {
				throw new IllegalStateException("The thread '" + Thread.currentThread().getName()
						+ "' is bound to a run of the type " + current.getClass().getName()
						+ ", which carries no grant: what it writes could not be fenced. Bind the run that the job was"
						+ " given (JobRun.current() on the thread of the job), and bind none in tests without leases");
			}
			add(leased);
		}
		return isFenced();
	}

	/**
	 * Adds the runs of the calling thread if they can be.
	 * @return whether the transaction belongs to any run
	 */
	boolean collectLeased() {
		JobRun current = CurrentJobRun.find().orElse(null);
		if (current == null) {
			collectOpener();
		}
		else if (current != this.lastRun && current instanceof LeasedRun leased) {
			add(leased);
		}
		return isFenced();
	}

	private void collectOpener() {
		LeasedRun run = openerOfOtherThread();
		if (run != null && run != this.lastRun) {
			add(run);
		}
	}

	// On the thread that opened the connection, the run has ended or was suspended
	private @Nullable LeasedRun openerOfOtherThread() {
		if (this.opener == null || this.openedOn == Thread.currentThread()) {
			return null;
		}
		if (this.opener.hasEnded()) {
			this.opener = null;
		}
		return this.opener;
	}

	/**
	 * Whether what the calling thread does now would be part of a run.
	 * @return whether the transaction belongs to a run, or would
	 */
	boolean isInRun() {
		return isFenced() || CurrentJobRun.find().isPresent() || openerOfOtherThread() != null;
	}

	private void add(LeasedRun innermost) {
		this.lastRun = innermost;
		LeasedRun run = innermost;
		while (run != null) {
			if (!contains(run)) {
				this.runs.add(run);
			}
			run = run.enclosing().orElse(null);
		}
	}

	private boolean contains(LeasedRun run) {
		for (LeasedRun collected : this.runs) {
			if (collected == run) {
				return true;
			}
		}
		return false;
	}

	boolean isFenced() {
		return !this.runs.isEmpty();
	}

	@Nullable LeasedRun runWithoutAutocommit() {
		for (LeasedRun run : this.runs) {
			if (!run.allowsAutocommit()) {
				return run;
			}
		}
		return null;
	}

	/**
	 * Refuses locally what need not be sent.
	 * @throws io.github.singletonjob.LeaseLostException if one of the runs is over
	 */
	void ensureOpen() {
		this.runs.forEach(LeasedRun::ensureOpen);
	}

	void leaveRuns() {
		this.runs.clear();
		this.lastRun = null;
	}

	boolean isPortable() throws SQLException {
		return this.check.table().dialect(this.delegate).isPortable();
	}

	/**
	 * Whether a backslash is an ordinary character in the strings of this session.
	 * @return false if it is not, or that is not known
	 * @throws SQLException if the connection is closed
	 */
	boolean hasConformingStrings() throws SQLException {
		return "on".equals(IdleTimeout.Sessions.parameter(this.delegate, "standard_conforming_strings"));
	}

	boolean isUsed() {
		return this.used;
	}

	boolean isAborted() {
		return this.aborted;
	}

	/**
	 * Counts something that is executed.
	 */
	void use() {
		this.used = true;
		if (this.usedBy != Thread.currentThread()) {
			this.usedBy = Thread.currentThread();
			this.usedInSpring = TransactionSynchronizationManager.isActualTransactionActive();
			rememberBegun();
		}
	}

	/**
	 * Counts that autocommit was switched off.
	 */
	void begun() {
		this.begunHere = true;
		this.usedBy = null;
		this.begunBy = Thread.currentThread();
		rememberBegun();
	}

	/**
	 * Counts that autocommit was switched on.
	 */
	void noneBegun() {
		this.begunHere = false;
	}

	private void rememberBegun() {
		List<WeakReference<FencedTransaction>> begun = BEGUN.get();
		for (int i = begun.size() - 1; i >= 0; i--) {
			FencedTransaction other = begun.get(i).get();
			if (other == null || other == this || !other.isOpenOnThisThread()) {
				begun.remove(i);
			}
		}
		begun.add(this.self);
	}

	private boolean isOpenOnThisThread() {
		Thread thread = (this.usedBy != null) ? this.usedBy : this.begunBy;
		if (thread != Thread.currentThread()) {
			return false;
		}
		try {
			return !this.delegate.isClosed() && !this.delegate.getAutoCommit();
		}
		catch (SQLException ex) {
			// It was closed in between
			return false;
		}
	}

	/**
	 * Whether the calling thread has begun a transaction by itself, on any guarded
	 * connection, that is still open. One that Spring has begun and suspended does not
	 * count, nor does one that nobody has begun explicitly and that has not written.
	 * @return whether there is such a transaction
	 */
	static boolean isAnyOpenOnThisThread() {
		boolean mayBeSuspended = TransactionSynchronizationManager.isSynchronizationActive();
		for (WeakReference<FencedTransaction> begun : BEGUN.get()) {
			FencedTransaction transaction = begun.get();
			if (transaction != null && transaction.isOpenOnThisThread()
					&& !(mayBeSuspended && (transaction.usedBy == null || transaction.usedInSpring))
					&& (transaction.begunBy != null || transaction.mayHaveWritten())) {
				return true;
			}
		}
		return false;
	}

	private boolean mayHaveWritten() {
		try {
			if (isPortable()) {
				return true;
			}
			try (Statement statement = this.delegate.createStatement();
					ResultSet written = statement.executeQuery(HAS_WRITTEN)) {
				return written.next() && written.getBoolean(1);
			}
		}
		catch (SQLException ex) {
			// In a failed transaction nothing can be asked, and nothing can be committed
			return false;
		}
	}

	void handOutWriter() {
		this.mayWriteUnseen = true;
		this.used = true;
	}

	void limitIdleTime() throws SQLException {
		this.idleTimeout.limit(this.runs);
	}

	/**
	 * Whether a rollback to a savepoint may undo the limit.
	 * @return whether the limit was changed in this transaction
	 */
	boolean isIdleTimeUncommitted() {
		return this.idleTimeout.isUncommitted();
	}

	void rolledBackToSavepoint() {
		this.idleTimeout.rolledBack();
	}

	/**
	 * Whether others may go on with the transaction, and end it, after the connection was
	 * closed here: a layer that joins transactions, or enlists its connections in them,
	 * hands out connections with a transaction that was not begun here.
	 * @return whether that is not excluded
	 */
	boolean mayBeEndedByOthers() {
		return !this.begunHere;
	}

	void commitFenced() throws SQLException {
		fence(() -> {
			this.check.commit(this.delegate, grants());
			// Postgres has committed, and this only tells the driver and the pool
			this.delegate.commit();
		});
	}

	/**
	 * Checks the transaction and leaves it open. The lock of the check lasts until it
	 * ends, so no newer run can have begun by then.
	 * @throws SQLException if it was refused; the connection is cut then, so that whoever
	 * goes on with the transaction is told, too
	 */
	void checkFenced() throws SQLException {
		try {
			fence(() -> this.check.check(this.delegate, grants()));
		}
		catch (SQLException | RuntimeException ex) {
			abortConnection(ex);
			throw ex;
		}
	}

	/**
	 * Whether the calling thread is about to check a transaction. A layer that hides the
	 * guard of its connections has one around it, too, and each lets the other check.
	 * @return whether what it sends is a check
	 */
	static boolean isChecking() {
		return CHECKING.get() != null;
	}

	private void fence(Check last) throws SQLException {
		CHECKING.set(true);
		try {
			ensureOpen();
			last.perform();
			committed();
		}
		catch (SQLException ex) {
			throw refused(ex);
		}
		catch (RuntimeException | Error ex) {
			rollback(ex);
			throw ex;
		}
		finally {
			CHECKING.remove();
		}
	}

	private List<LeaseGrant> grants() {
		if (this.runs.size() == 1) {
			return List.of(this.runs.get(0).grant());
		}
		return this.runs.stream().map(LeasedRun::grant).distinct().toList();
	}

	private SQLException refused(SQLException failure) {
		List<LeasedRun> collected = List.copyOf(this.runs);
		rollback(failure);
		return this.aborted ? failure : new FailedCommit(this.check.table(), this.delegate, failure).explain(collected,
				this.guard.hasFence());
	}

	void rollback() throws SQLException {
		this.delegate.rollback();
		this.idleTimeout.rolledBack();
		ended();
	}

	/**
	 * Rolls back because of a failure, whatever it takes.
	 * @param cause the failure
	 */
	void rollback(Throwable cause) {
		if (this.aborted) {
			return;
		}
		try {
			rollback();
		}
		catch (SQLException | RuntimeException ex) {
			cause.addSuppressed(ex);
			abortConnection(cause);
		}
	}

	/**
	 * Cuts the connection, so that nothing can be committed on it.
	 * @param cause the failure
	 */
	void abortConnection(Throwable cause) {
		this.aborted = true;
		try {
			this.delegate.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException ex) {
			cause.addSuppressed(ex);
			closeSession(cause);
		}
	}

	private void closeSession(Throwable cause) {
		try {
			this.delegate.unwrap(Connection.class).close();
		}
		catch (SQLException | RuntimeException ex) {
			cause.addSuppressed(ex);
		}
	}

	void committed() {
		if (this.mayWriteUnseen) {
			// So may a rollback to a savepoint be unseen
			this.idleTimeout.rolledBack();
		}
		else {
			this.idleTimeout.committed();
		}
		ended();
	}

	private void ended() {
		this.used = this.mayWriteUnseen;
		this.usedBy = null;
		this.begunBy = null;
		leaveRuns();
	}

	@FunctionalInterface
	private interface Check {

		void perform() throws SQLException;

	}

}
