package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * Executes a statement that is made inside a run and outside of a transaction. Alone it
 * would commit itself, unfenced; so it becomes a transaction of its own that ends as
 * every other. Only if the job was configured so, it is left alone.
 */
final class AutocommitExecution {

	private final Connection delegate;

	private final GuardedTransaction transaction;

	AutocommitExecution(Connection delegate, GuardedTransaction transaction) {
		this.delegate = delegate;
		this.transaction = transaction;
	}

	@Nullable Object execute(Execution execution) throws Throwable {
		CollectedRuns runs = this.transaction.runs();
		try {
			runs.ensureOpen();
			LeasedRun fenced = runs.firstWithoutAutocommit();
			return (fenced != null) ? executeWithoutCursor(execution, fenced) : execution.call().proceed();
		}
		finally {
			runs.clear();
		}
	}

	// Outside of a transaction the driver reads all rows at once; inside it would leave
	// them in a cursor that dies at the commit
	private @Nullable Object executeWithoutCursor(Execution execution, LeasedRun fenced) throws Throwable {
		Statement statement = execution.statement();
		int fetchSize = (statement != null) ? statement.getFetchSize() : 0;
		if (statement == null || fetchSize == 0) {
			return executeAsTransaction(execution, fenced);
		}
		statement.setFetchSize(0);
		Object result = executeAsTransaction(execution, fenced);
		if (!statement.isClosed()) {
			statement.setFetchSize(fetchSize);
		}
		return result;
	}

	private @Nullable Object executeAsTransaction(Execution execution, LeasedRun fenced) throws Throwable {
		// Before the transaction begins, so that its rollback does not undo it
		this.transaction.boundIdleTime();
		this.delegate.setAutoCommit(false);
		try {
			Object result = execution.call().proceed();
			this.transaction.commitFenced();
			leaveTransaction();
			return result;
		}
		catch (Throwable failure) {
			// Nothing is left to roll back if the commit has failed, and it costs nothing
			// then
			this.transaction.rollback(failure);
			leaveTransaction(failure);
			throw (failure instanceof SQLException sql) ? Refusals.explain(sql, fenced) : failure;
		}
	}

	private void leaveTransaction() throws SQLException {
		this.delegate.setAutoCommit(true);
	}

	private void leaveTransaction(Throwable failure) {
		if (this.transaction.isSevered()) {
			return;
		}
		try {
			leaveTransaction();
		}
		catch (SQLException | RuntimeException ex) {
			// Later statements would wait in a transaction that nobody knows of
			failure.addSuppressed(ex);
			this.transaction.sever(failure);
		}
	}

}
