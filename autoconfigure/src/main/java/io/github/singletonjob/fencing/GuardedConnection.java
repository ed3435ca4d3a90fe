package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Objects;

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

	private GuardedConnection(Connection delegate, FencedTransaction transaction) {
		super(delegate);
		this.delegate = delegate;
		this.transaction = transaction;
		this.proxy = proxy(Connection.class, this);
		transaction.collectLeased();
	}

	/**
	 * Guards a connection, unless a layer of it is guarded already.
	 * @param connection the connection
	 * @param check how its commits are checked
	 * @param sessions the sessions of its data source
	 * @return the guarded connection
	 * @throws SQLException if the connection is closed
	 */
	static Connection guard(Connection connection, FenceCheck check, IdleTimeout.Sessions sessions)
			throws SQLException {
		// Not asked of Spring's lazy connections: the question would fetch them
		if (!(connection instanceof ConnectionProxy) && connection.isWrapperFor(GuardedConnection.class)) {
			return connection;
		}
		FencedTransaction transaction = new FencedTransaction(connection, check, sessions);
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
		switch (method.getName()) {
			case "commit" -> commit();
			case "setAutoCommit" -> setAutoCommit(Boolean.TRUE.equals(args[0]));
			case "close" -> close();
			case "rollback" -> rollback(method, args);
			case "prepareStatement", "prepareCall" -> {
				return prepare(method, args);
			}
			case "createArrayOf" -> {
				return call(method, args);
			}
			case "unwrap" -> {
				return unwrap(proxy, this.delegate, (Class<?>) args[0]);
			}
			case "isWrapperFor" -> {
				return isWrapperFor(proxy, this.delegate, (Class<?>) args[0]);
			}
			default -> {
				return guarded(proxy, call(method, args));
			}
		}
		return null;
	}

	private Object prepare(Method method, @Nullable Object[] args) throws Throwable {
		Statement statement = (Statement) Objects.requireNonNull(call(method, args));
		String sql = (String) args[0];
		return proxy(GuardedStatement.type(statement), new GuardedStatement(statement, this, sql));
	}

	private void setAutoCommit(boolean autoCommit) throws SQLException {
		boolean fenced = this.transaction.collectLeased();
		boolean ends = autoCommit && !this.delegate.getAutoCommit();
		if (ends && fenced) {
			endTransaction();
		}
		if (fenced && !autoCommit && this.delegate.getAutoCommit()) {
			// Before the transaction begins, so that its rollback does not undo it
			this.transaction.limitIdleTime();
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
			return;
		}
		this.transaction.rollback();
	}

	private void close() throws SQLException {
		if (!this.transaction.isFenced() || this.transaction.isAborted() || this.delegate.isClosed()
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
		if (this.transaction.isAborted()) {
			throw failure;
		}
	}

	/**
	 * Executes a call that lets the database execute something.
	 * @param object the object that is called
	 * @param command the command in its text that begins or ends a transaction, or null
	 * @param method what to call
	 * @param args its arguments
	 * @return the driver's answer
	 * @throws Throwable if it is refused, fails, or could not be committed
	 */
	@Nullable Object execute(GuardedObject object, @Nullable Command command, Method method, @Nullable Object[] args)
			throws Throwable {
		boolean fenced = this.transaction.collect();
		this.transaction.use();
		if (fenced) {
			boolean autoCommit = this.delegate.getAutoCommit();
			Refusals.refuse(command, autoCommit);
			if (!autoCommit || this.transaction.runWithoutAutocommit() != null) {
				Refusals.refuseImplicit(command);
			}
			if (autoCommit) {
				return executeWithoutTransaction(object, method, args);
			}
		}
		this.transaction.limitIdleTime();
		return object.call(method, args);
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
	 * Counts a call of a driver's object as an execution.
	 * @param name the method
	 * @throws SQLException if it would write outside of a transaction
	 */
	void callDriver(String name) throws SQLException {
		if (this.transaction.collect() && this.delegate.getAutoCommit()) {
			throw Refusals.ofDriverCall(name);
		}
		this.transaction.use();
		this.transaction.limitIdleTime();
	}

	/**
	 * The command in a text that ends or begins a transaction of this database.
	 * @param sql one or more statements
	 * @return the command, or null if there is none
	 * @throws SQLException if the connection is closed
	 */
	@Nullable Command command(String sql) throws SQLException {
		Command command = StatementText.findCommand(sql);
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
		boolean fenced = this.transaction.collect();
		if (fenced) {
			String refusal = Refusals.ofUnwrap(target, type, this.delegate.getAutoCommit());
			if (refusal != null) {
				throw new SQLException(refusal, "0A000");
			}
		}
		Object unwrapped = target.unwrap(type);
		this.transaction.handOutWriter();
		return fenced ? proxy(type, new OfDriver(unwrapped, this)) : unwrapped;
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
		if (this.transaction.collectLeased()
				&& Refusals.ofUnwrap(target, type, this.delegate.getAutoCommit()) != null) {
			return false;
		}
		return target.isWrapperFor(type);
	}

}
