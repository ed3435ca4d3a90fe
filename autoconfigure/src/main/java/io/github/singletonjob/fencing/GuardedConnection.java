package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.fencing.StatementText.Command;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionProxy;

/**
 * A connection whose transactions are fenced.
 * <p>
 * Inside a run, {@code commit()} and {@code setAutoCommit(true)} check the fence, the end
 * of a transaction by a statement's text is refused, and a statement outside of a
 * transaction becomes a transaction of its own. Without a run all calls go straight to
 * the driver.
 */
final class GuardedConnection extends GuardedObject {

	private final Connection delegate;

	private final FencedTransaction transaction;

	private final Connection proxy;

	// A transaction that is made of one statement must not take in that of another
	// thread. Drivers execute one statement at a time as well, so nobody waits longer
	private final Lock executing = new ReentrantLock();

	private GuardedConnection(Connection delegate, FencedTransaction transaction) {
		super(delegate);
		this.delegate = delegate;
		this.transaction = transaction;
		this.proxy = proxy(Connection.class, this);
	}

	/**
	 * Guards a connection, unless a layer of it is guarded already.
	 * @param connection the connection
	 * @param guard the guard of its data source
	 * @param checks how its commits are checked
	 * @return the guarded connection
	 * @throws SQLException if the connection is closed
	 */
	static Connection guard(Connection connection, DataSourceGuard guard, DataSourceGuard.Checks checks)
			throws SQLException {
		// Not asked of Spring's lazy connections: the question would fetch them
		if (!(connection instanceof ConnectionProxy) && connection.isWrapperFor(GuardedConnection.class)) {
			return connection;
		}
		FencedTransaction transaction = new FencedTransaction(connection, guard, checks);
		return new GuardedConnection(connection, transaction).proxy;
	}

	FencedTransaction transaction() {
		return this.transaction;
	}

	Connection proxy() {
		return this.proxy;
	}

	@Override
	GuardedConnection connection() {
		return this;
	}

	@Override
	@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
		return switch (method.getName()) {
			case "commit", "rollback", "setAutoCommit" -> {
				this.executing.lock();
				try {
					endOrBegin(method, args);
				}
				finally {
					this.executing.unlock();
				}
				yield null;
			}
			case "close" -> {
				close();
				yield null;
			}
			case "prepareStatement", "prepareCall" -> prepare(method, args);
			case "createArrayOf" -> call(method, args);
			case "unwrap" -> unwrap(proxy, this.delegate, (Class<?>) args[0]);
			case "isWrapperFor" -> isWrapperFor(proxy, this.delegate, (Class<?>) args[0]);
			default -> guarded(proxy, call(method, args));
		};
	}

	private void endOrBegin(Method method, @Nullable Object[] args) throws Throwable {
		switch (method.getName()) {
			case "commit" -> commit();
			case "rollback" -> rollback(method, args);
			default -> setAutoCommit(Boolean.TRUE.equals(args[0]));
		}
	}

	private Object prepare(Method method, @Nullable Object[] args) throws Throwable {
		Statement statement = (Statement) Objects.requireNonNull(call(method, args));
		String sql = (String) args[0];
		return proxy(GuardedStatement.type(statement), new GuardedStatement(statement, this, sql));
	}

	private void setAutoCommit(boolean autoCommit) throws SQLException {
		boolean fenced = this.transaction.collectLeased();
		boolean changes = autoCommit != this.delegate.getAutoCommit();
		if (changes && autoCommit && fenced) {
			endTransaction();
		}
		if (changes && !autoCommit) {
			// Before the transaction begins, so that no rollback undoes it
			this.transaction.limitIdleTime();
		}
		this.delegate.setAutoCommit(autoCommit);
		if (changes && autoCommit) {
			this.transaction.committed();
			this.transaction.noneBegun();
		}
		else if (changes) {
			this.transaction.begun();
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

	private void commit() throws SQLException {
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
			return this.transaction.collect();
		}
		catch (IllegalStateException ex) {
			this.transaction.rollback(ex);
			throw ex;
		}
	}

	private void rollback(Method method, @Nullable Object[] args) throws Throwable {
		if (args.length == 1 && args[0] instanceof Savepoint) {
			call(method, args);
			this.transaction.rolledBackToSavepoint();
			this.transaction.limitIdleTime();
			return;
		}
		this.transaction.rollback();
	}

	private void close() throws SQLException {
		if (!this.transaction.isFenced() || this.transaction.isAborted() || this.delegate.isClosed()
				|| this.delegate.getAutoCommit()) {
			this.delegate.close();
		}
		else if (this.transaction.mayBeEndedByOthers()) {
			checkAndClose();
		}
		else {
			rollbackAndClose();
		}
	}

	private void checkAndClose() throws SQLException {
		try {
			this.transaction.checkFenced();
		}
		finally {
			this.delegate.close();
		}
	}

	// A pool, or the driver, may commit what is open when it is closed
	private void rollbackAndClose() throws SQLException {
		SQLException failure = new SQLException("The transaction of a run was open when its connection was closed,"
				+ " and could not be rolled back: the connection was cut", "08006");
		this.transaction.rollback(failure);
		this.delegate.close();
		if (this.transaction.isAborted()) {
			throw failure;
		}
	}

	/**
	 * Executes a call that lets the database execute something.
	 * @param object the object that is called
	 * @param method what to call
	 * @param args its arguments
	 * @return the driver's answer
	 * @throws Throwable if it is refused, fails, or could not be committed
	 */
	@Nullable Object execute(GuardedObject object, Method method, @Nullable Object[] args) throws Throwable {
		this.executing.lock();
		try {
			boolean fenced = this.transaction.collect();
			this.transaction.use();
			if (fenced) {
				boolean autoCommit = this.delegate.getAutoCommit();
				Command command = object.command(method, args);
				Refusals.refuse(command, autoCommit);
				if (!autoCommit || this.transaction.runWithoutAutocommit() != null) {
					Refusals.refuseImplicit(command);
				}
				if (autoCommit) {
					return executeWithoutTransaction(object, method, args);
				}
			}
			this.transaction.limitIdleTime();
			if (this.transaction.isIdleTimeUncommitted() && object.mayRollBackToSavepoint(method, args)) {
				return executeRollback(object, method, args);
			}
			return object.call(method, args);
		}
		finally {
			this.executing.unlock();
		}
	}

	private @Nullable Object executeRollback(GuardedObject object, Method method, @Nullable Object[] args)
			throws Throwable {
		this.transaction.rolledBackToSavepoint();
		Object result = object.call(method, args);
		this.transaction.limitIdleTime();
		return result;
	}

	// Alone it would commit itself, unfenced; so it becomes a transaction of its own that
	// ends as every other. Only if the job was configured so, it is left alone
	private @Nullable Object executeWithoutTransaction(GuardedObject object, Method method, @Nullable Object[] args)
			throws Throwable {
		try {
			this.transaction.ensureOpen();
			LeasedRun fenced = this.transaction.runWithoutAutocommit();
			return (fenced != null) ? executeWithoutCursor(object, method, args, fenced) : object.call(method, args);
		}
		finally {
			this.transaction.leaveRuns();
		}
	}

	// Outside of a transaction the driver reads all rows at once; inside it would leave
	// them in a cursor that dies at the commit
	private @Nullable Object executeWithoutCursor(GuardedObject object, Method method, @Nullable Object[] args,
			LeasedRun fenced) throws Throwable {
		Statement statement = (object.target() instanceof Statement executed) ? executed : null;
		int fetchSize = (statement != null) ? statement.getFetchSize() : 0;
		if (statement == null || fetchSize == 0) {
			return executeAsTransaction(object, method, args, fenced);
		}
		statement.setFetchSize(0);
		Object result = executeAsTransaction(object, method, args, fenced);
		if (!statement.isClosed()) {
			statement.setFetchSize(fetchSize);
		}
		return result;
	}

	private @Nullable Object executeAsTransaction(GuardedObject object, Method method, @Nullable Object[] args,
			LeasedRun fenced) throws Throwable {
		// Before the transaction begins, so that its rollback does not undo it
		this.transaction.limitIdleTime();
		this.delegate.setAutoCommit(false);
		try {
			Object result = object.call(method, args);
			this.transaction.commitFenced();
			this.delegate.setAutoCommit(true);
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

	private void leaveTransaction(Throwable failure) {
		if (this.transaction.isAborted()) {
			return;
		}
		try {
			this.delegate.setAutoCommit(true);
		}
		catch (SQLException | RuntimeException ex) {
			// Later statements would wait in a transaction that nobody knows of
			failure.addSuppressed(ex);
			this.transaction.abortConnection(failure);
		}
	}

	/**
	 * Calls a driver's object, which may let the database execute something.
	 * @param object the object
	 * @param method what to call
	 * @param args its arguments
	 * @return the driver's answer
	 * @throws Throwable if it fails, or would write outside of a transaction
	 */
	@Nullable Object callDriver(GuardedObject object, Method method, @Nullable Object[] args) throws Throwable {
		this.executing.lock();
		try {
			refuseWithoutTransaction(method);
			countExecution();
			return object.call(method, args);
		}
		finally {
			this.executing.unlock();
		}
	}

	/**
	 * Goes on with an operation of the driver that is under way. Until it has ended, the
	 * driver executes nothing else, and others may wait for that.
	 * @param operation the operation
	 * @param method what to call
	 * @param args its arguments
	 * @return the driver's answer
	 * @throws Throwable if it fails, or would write outside of a transaction
	 */
	@Nullable Object continueDriver(GuardedObject operation, Method method, @Nullable Object[] args) throws Throwable {
		refuseWithoutTransaction(method);
		this.transaction.use();
		return operation.call(method, args);
	}

	private void refuseWithoutTransaction(Method method) throws SQLException {
		if (this.transaction.collect() && this.delegate.getAutoCommit()) {
			throw Refusals.ofDriverCall(method.getName());
		}
	}

	private void countExecution() throws SQLException {
		this.transaction.collect();
		this.transaction.use();
		this.transaction.limitIdleTime();
	}

	/**
	 * Calls a large object, which drivers execute inside of transactions only.
	 * @param object the object
	 * @param method what to call
	 * @param args its arguments
	 * @return the driver's answer
	 * @throws Throwable if it fails
	 */
	@Nullable Object callLargeObject(GuardedObject object, Method method, @Nullable Object[] args) throws Throwable {
		this.executing.lock();
		try {
			if (!this.delegate.getAutoCommit()) {
				countExecution();
			}
			return object.call(method, args);
		}
		finally {
			this.executing.unlock();
		}
	}

	/**
	 * The command in a text that ends or begins a transaction of this database.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 * @throws SQLException if the connection is closed
	 */
	@Nullable Command command(String sql) throws SQLException {
		if (FencedTransaction.isChecking()) {
			return null;
		}
		boolean conforming = sql.indexOf('\\') < 0 || this.transaction.hasConformingStrings();
		Command command = StatementText.findCommand(sql, conforming);
		return (command == null && this.transaction.isPortable()) ? StatementText.findImplicitCommit(sql) : command;
	}

	/**
	 * Unwraps an object of this connection: to itself if it is of that type, else to the
	 * driver's object, which inside a run shows no more than the interface.
	 * @param proxy the guarded object
	 * @param target what it guards
	 * @param type what to unwrap it to
	 * @return an object of that type
	 * @throws SQLException if it is refused or not possible
	 */
	Object unwrap(Object proxy, Wrapper target, @Nullable Class<?> type) throws SQLException {
		if (type == null || type.isInstance(proxy)) {
			return proxy;
		}
		if (!this.transaction.isInRun()) {
			Object unwrapped = target.unwrap(type);
			this.transaction.handOutWriter();
			return unwrapped;
		}
		String refusal = Refusals.ofUnwrap(target, type, this.delegate.getAutoCommit());
		if (refusal != null) {
			throw new SQLException(refusal, "0A000");
		}
		return proxy(type, new OfDriver(target.unwrap(type), this));
	}

	/**
	 * Whether {@link #unwrap(Object, Wrapper, Class)} would succeed.
	 * @param proxy the guarded object
	 * @param target what it guards
	 * @param type what it would be unwrapped to
	 * @return whether it can be
	 * @throws SQLException if the driver does not know
	 */
	boolean isWrapperFor(Object proxy, Wrapper target, @Nullable Class<?> type) throws SQLException {
		if (type == null || type == GuardedConnection.class || type.isInstance(proxy)) {
			return true;
		}
		if (this.transaction.isInRun() && Refusals.ofUnwrap(target, type, this.delegate.getAutoCommit()) != null) {
			return false;
		}
		return target.isWrapperFor(type);
	}

}
