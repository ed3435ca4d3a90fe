package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionProxy;

/**
 * A connection whose transactions are fenced.
 */
final class GuardedConnection extends GuardedObject {

	private final ConnectionGuard guard;

	private final Connection proxy;

	private GuardedConnection(ConnectionGuard guard) {
		super(guard.delegate());
		this.guard = guard;
		this.proxy = proxy(Connection.class, this);
	}

	/**
	 * Guards a connection, unless a layer of it is guarded already.
	 * @param connection the connection
	 * @param check how its commits are checked
	 * @param bounds where the bounds of its session are remembered
	 * @return the guarded connection
	 * @throws SQLException if the connection is closed
	 */
	static Connection guard(Connection connection, FenceCheck check, SessionBounds bounds) throws SQLException {
		// Not asked of Spring's lazy connections: the question would fetch them
		if (!(connection instanceof ConnectionProxy) && connection.isWrapperFor(GuardedConnection.class)) {
			return connection;
		}
		IdleBound idle = new IdleBound(bounds, connection);
		GuardedTransaction transaction = new GuardedTransaction(connection, check, idle);
		return new GuardedConnection(new ConnectionGuard(connection, transaction)).proxy;
	}

	ConnectionGuard guard() {
		return this.guard;
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
			case "commit" -> this.guard.commit();
			case "setAutoCommit" -> this.guard.setAutoCommit(Boolean.TRUE.equals(args[0]));
			case "close" -> this.guard.close();
			case "rollback" -> rollback(method, args);
			case "prepareStatement", "prepareCall" -> {
				return prepare(method, args);
			}
			case "createArrayOf" -> {
				return call(method, args);
			}
			case "unwrap" -> {
				return unwrap(proxy, this.guard.delegate(), (Class<?>) args[0]);
			}
			case "isWrapperFor" -> {
				return isWrapperFor(proxy, this.guard.delegate(), (Class<?>) args[0]);
			}
			default -> {
				return guarded(proxy, call(method, args));
			}
		}
		return null;
	}

	private void rollback(Method method, @Nullable Object[] args) throws Throwable {
		if (args.length == 1 && args[0] instanceof Savepoint) {
			call(method, args);
			return;
		}
		this.guard.rollback();
	}

	private Object prepare(Method method, @Nullable Object[] args) throws Throwable {
		Statement statement = (Statement) Objects.requireNonNull(call(method, args));
		String sql = (String) args[0];
		return proxy(statementType(statement), new GuardedStatement(statement, this, sql));
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
		boolean fenced = this.guard.runs().collect();
		if (fenced) {
			String refusal = Refusals.ofUnwrap(target, type, this.guard.delegate().getAutoCommit());
			if (refusal != null) {
				throw new SQLException(refusal, "0A000");
			}
		}
		Object unwrapped = target.unwrap(type);
		this.guard.handedOutWriter();
		return fenced ? proxy(type, new GuardedDriverObject(unwrapped, this)) : unwrapped;
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
		if (this.guard.runs().collectLeased()
				&& Refusals.ofUnwrap(target, type, this.guard.delegate().getAutoCommit()) != null) {
			return false;
		}
		return target.isWrapperFor(type);
	}

}
