package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;

/**
 * The transaction of one connection, one after the other: which runs it belongs to, and
 * how it ends.
 * <p>
 * It can only end by {@link FenceCheck} or by a rollback. When a check or a commit fails,
 * it is rolled back before anything is thrown; when that fails too, the connection is
 * cut, so that no pool can commit what is left.
 */
final class GuardedTransaction {

	private final Connection delegate;

	private final FenceCheck check;

	private final IdleBound idle;

	private final CollectedRuns runs = new CollectedRuns();

	// Whether anything can have been executed since the last transaction ended
	private boolean used;

	// Whether objects were handed out that write without being seen here
	private boolean opaque;

	private boolean severed;

	GuardedTransaction(Connection delegate, FenceCheck check, IdleBound idle) throws SQLException {
		this.delegate = delegate;
		this.check = check;
		this.idle = idle;
		this.used = !delegate.getAutoCommit();
	}

	CollectedRuns runs() {
		return this.runs;
	}

	boolean isPortable() throws SQLException {
		return this.check.table().dialect(this.delegate).isPortable();
	}

	boolean isUsed() {
		return this.used;
	}

	boolean isSevered() {
		return this.severed;
	}

	void use() {
		this.used = true;
	}

	void handOutWriter() {
		this.opaque = true;
		this.used = true;
	}

	void boundIdleTime() throws SQLException {
		this.idle.work(this.runs);
	}

	void commitFenced() throws SQLException {
		try {
			this.runs.ensureOpen();
			this.check.commit(this.delegate, this.runs.grants());
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

	private SQLException refused(SQLException failure) {
		List<LeasedRun> collected = List.copyOf(this.runs.asList());
		rollback(failure);
		if (!this.severed) {
			StaleTokenException stale = new StaleRuns(this.check.table()).find(this.delegate, collected, failure);
			if (stale != null) {
				throw stale;
			}
		}
		return failure;
	}

	void rollback() throws SQLException {
		this.delegate.rollback();
		this.idle.rolledBack();
		ended();
	}

	/**
	 * Rolls back because of a failure, whatever it takes.
	 * @param cause the failure
	 */
	void rollback(Throwable cause) {
		if (this.severed) {
			return;
		}
		try {
			rollback();
		}
		catch (SQLException | RuntimeException ex) {
			cause.addSuppressed(ex);
			sever(cause);
		}
	}

	/**
	 * Cuts the connection, so that nothing can be committed on it.
	 * @param cause the failure
	 */
	void sever(Throwable cause) {
		this.severed = true;
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
		this.idle.committed();
		ended();
	}

	private void ended() {
		this.used = this.opaque;
		this.runs.clear();
	}

}
