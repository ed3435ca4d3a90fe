package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * Fences the transactions of one connection.
 * <p>
 * A transaction collects the runs that work on it. If there are any, {@code commit()} and
 * {@code setAutoCommit(true)} check the fence, the end of a transaction by a statement's
 * text is refused, and a statement outside of a transaction becomes a transaction of its
 * own. Without a run all calls go straight to the driver.
 */
final class ConnectionGuard {

	private final Connection delegate;

	private final GuardedTransaction transaction;

	private final AutocommitExecution withoutTransaction;

	ConnectionGuard(Connection delegate, GuardedTransaction transaction) {
		this.delegate = delegate;
		this.transaction = transaction;
		this.withoutTransaction = new AutocommitExecution(delegate, transaction);
		transaction.runs().collectLeased();
	}

	Connection delegate() {
		return this.delegate;
	}

	CollectedRuns runs() {
		return this.transaction.runs();
	}

	void handedOutWriter() {
		this.transaction.handOutWriter();
	}

	/**
	 * The command in a text that ends or begins a transaction of this database.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 * @throws SQLException if the connection is closed
	 */
	@Nullable TransactionCommand command(String sql) throws SQLException {
		TransactionCommand command = TransactionCommand.find(sql);
		return (command == null && this.transaction.isPortable()) ? ImplicitCommit.find(sql) : command;
	}

	@Nullable Object execute(Execution execution) throws Throwable {
		boolean fenced = runs().collect();
		this.transaction.use();
		if (fenced) {
			boolean autoCommit = this.delegate.getAutoCommit();
			Refusals.refuse(execution.command(), autoCommit);
			if (!autoCommit || runs().firstWithoutAutocommit() != null) {
				Refusals.refuseImplicit(execution.command());
			}
			if (autoCommit) {
				return this.withoutTransaction.execute(execution);
			}
		}
		this.transaction.boundIdleTime();
		return execution.call().proceed();
	}

	/**
	 * Counts a call of a driver's object as an execution.
	 * @param name the method
	 * @throws SQLException if it would write outside of a transaction
	 */
	void callDriver(String name) throws SQLException {
		if (runs().collect() && this.delegate.getAutoCommit()) {
			throw Refusals.ofDriverCall(name);
		}
		this.transaction.use();
		this.transaction.boundIdleTime();
	}

	void setAutoCommit(boolean autoCommit) throws SQLException {
		boolean fenced = runs().collectLeased();
		boolean ends = autoCommit && !this.delegate.getAutoCommit();
		if (ends && fenced) {
			endTransaction();
		}
		if (fenced && !autoCommit && this.delegate.getAutoCommit()) {
			// Before the transaction begins, so that its rollback does not undo it
			this.transaction.boundIdleTime();
		}
		this.delegate.setAutoCommit(autoCommit);
		if (ends) {
			this.transaction.committed();
		}
	}

	// The rollback of an empty transaction is free, and leaves nothing to the switch
	private void endTransaction() throws SQLException {
		if (this.transaction.isUsed()) {
			this.transaction.commitFenced();
		}
		else {
			this.transaction.rollback();
		}
	}

	void commit() throws SQLException {
		// In autocommit the driver has something to say about it
		if (collectOrRollBack() && !this.delegate.getAutoCommit()) {
			this.transaction.commitFenced();
		}
		else {
			this.delegate.commit();
			this.transaction.committed();
		}
	}

	private boolean collectOrRollBack() {
		try {
			return runs().collect();
		}
		catch (IllegalStateException ex) {
			this.transaction.rollback(ex);
			throw ex;
		}
	}

	void rollback() throws SQLException {
		this.transaction.rollback();
	}

	void close() throws SQLException {
		if (runs().isEmpty() || this.transaction.isSevered() || this.delegate.isClosed()
				|| this.delegate.getAutoCommit()) {
			this.delegate.close();
		}
		else {
			rollbackAndClose();
		}
	}

	// A pool, or the driver, may commit what is open when it is closed
	private void rollbackAndClose() throws SQLException {
		SQLException failure = new SQLException("The transaction of a run was open when its connection was closed,"
				+ " and could not be rolled back: the connection was cut", "08006");
		this.transaction.rollback(failure);
		this.delegate.close();
		if (this.transaction.isSevered()) {
			throw failure;
		}
	}

}
