package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * The transaction of one connection, one after the other: which runs it belongs to, and
 * how it ends.
 * <p>
 * It belongs to each run that was current, with the runs around it, while the transaction
 * was worked on. Its commit is fenced by all of them, whatever thread it happens on. It
 * can only end by {@link FenceCheck} or by a rollback. When a check or a commit fails, it
 * is rolled back before anything is thrown; when that fails too, the connection is cut,
 * so that no pool can commit what is left.
 */
final class FencedTransaction {

	private final Connection delegate;

	private final FenceCheck check;

	private final IdleTimeout idleTimeout;

	private final List<LeasedRun> runs = new ArrayList<>(2);

	private @Nullable JobRun lastRun;

	// Whether anything can have been executed since the last transaction ended
	private boolean used;

	// Whether objects were handed out that write without being seen here
	private boolean mayWriteUnseen;

	private boolean aborted;

	FencedTransaction(Connection delegate, FenceCheck check, IdleTimeout.Sessions sessions) throws SQLException {
		this.delegate = delegate;
		this.check = check;
		this.idleTimeout = new IdleTimeout(sessions, delegate);
		this.used = !delegate.getAutoCommit();
	}

	/**
	 * Adds the runs of the calling thread.
	 * @return whether the transaction belongs to any run
	 * @throws IllegalStateException if the thread is bound to a run that carries no
	 * grant, so that nothing could fence what it writes
	 */
	boolean collect() {
		JobRun current = CurrentJobRun.find().orElse(null);
		if (current != null && current != this.lastRun) {
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
		if (CurrentJobRun.find().orElse(null) instanceof LeasedRun leased && leased != this.lastRun) {
			add(leased);
		}
		return isFenced();
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

	boolean isUsed() {
		return this.used;
	}

	boolean isAborted() {
		return this.aborted;
	}

	void use() {
		this.used = true;
	}

	void handOutWriter() {
		this.mayWriteUnseen = true;
		this.used = true;
	}

	void limitIdleTime() throws SQLException {
		this.idleTimeout.limit(this.runs);
	}

	void commitFenced() throws SQLException {
		try {
			ensureOpen();
			this.check.commit(this.delegate, grants());
			// Postgres has committed, and this only tells the driver and the pool
			this.delegate.commit();
			committed();
		}
		catch (SQLException ex) {
			throw refused(ex);
		}
		catch (RuntimeException | Error ex) {
			rollback(ex);
			throw ex;
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
		if (!this.aborted) {
			StaleTokenException stale = new StaleRuns(this.check.table()).find(this.delegate, collected, failure);
			if (stale != null) {
				throw stale;
			}
		}
		return failure;
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
		this.idleTimeout.committed();
		ended();
	}

	private void ended() {
		this.used = this.mayWriteUnseen;
		leaveRuns();
	}

}
