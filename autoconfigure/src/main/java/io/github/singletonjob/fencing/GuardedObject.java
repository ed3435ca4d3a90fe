package io.github.singletonjob.fencing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Wrapper;

import org.jspecify.annotations.Nullable;

/**
 * One of JDBC's objects that belongs to a guarded connection. No object that it hands out
 * leads back to the connection itself: results are guarded in turn.
 */
abstract class GuardedObject implements InvocationHandler {

	private static final @Nullable Object[] NONE = {};

	private final Object target;

	GuardedObject(Object target) {
		this.target = target;
	}

	static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(handlerLoader(type), new Class<?>[] { type }, handler));
	}

	// A driver's interface may be invisible from here, JDBC's own are visible everywhere
	private static ClassLoader handlerLoader(Class<?> type) {
		ClassLoader own = GuardedObject.class.getClassLoader();
		ClassLoader loader = type.getClassLoader();
		return (loader == null || type.getName().startsWith("java.sql.")) ? own : loader;
	}

	@Override
	public final @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args)
			throws Throwable {
		@Nullable Object[] arguments = (args != null) ? args : NONE;
		return switch (method.getName()) {
			case "equals" -> proxy == arguments[0];
			case "hashCode" -> System.identityHashCode(proxy);
			case "toString" -> text();
			default -> intercept(proxy, method, arguments);
		};
	}

	// The text of an array is its value
	private String text() {
		return (this.target instanceof Array) ? this.target.toString() : "guarded " + this.target;
	}

	abstract @Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable;

	/**
	 * The guarded connection that this object belongs to.
	 * @return the connection
	 */
	abstract GuardedConnection connection();

	/**
	 * What a guarded result set answers when it is asked for its statement.
	 * @param proxy the guarded object that makes the result set
	 * @return the guarded statement, or null if the object is none
	 */
	@Nullable Object statementOf(Object proxy) {
		return null;
	}

	final Object target() {
		return this.target;
	}

	final @Nullable Object call(Method method, @Nullable Object[] args) throws Throwable {
		try {
			return method.invoke(this.target, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	final @Nullable Object guarded(Object proxy, @Nullable Object result) {
		if (result == null || result instanceof String || result instanceof Number) {
			return result;
		}
		if (result instanceof ResultSet) {
			return proxy(ResultSet.class, new Result(result, connection(), statementOf(proxy)));
		}
		if (result instanceof Statement statement) {
			return proxy(GuardedStatement.type(statement), new GuardedStatement(statement, connection(), null));
		}
		if (result instanceof Connection) {
			return connection().proxy();
		}
		if (result instanceof DatabaseMetaData) {
			return proxy(DatabaseMetaData.class, new Result(result, connection(), null));
		}
		if (result instanceof Array) {
			return proxy(Array.class, new Result(result, connection(), null));
		}
		if (result instanceof Blob || result instanceof Clob) {
			connection().transaction().handOutWriter();
		}
		return result;
	}

	/**
	 * What a driver must be given where it takes one of its own objects.
	 * @param value any value
	 * @return what it guards, or the value itself
	 */
	static @Nullable Object unguarded(@Nullable Object value) {
		if (value instanceof Array && Proxy.isProxyClass(value.getClass())
				&& Proxy.getInvocationHandler(value) instanceof GuardedObject guarded) {
			return guarded.target;
		}
		return value;
	}

	/**
	 * A result set, an array or the metadata of a connection. What is changed through a
	 * result set is a statement like others.
	 */
	private static final class Result extends GuardedObject {

		private final GuardedConnection connection;

		private final @Nullable Object statement;

		Result(Object result, GuardedConnection connection, @Nullable Object statement) {
			super(result);
			this.connection = connection;
			this.statement = statement;
		}

		@Override
		GuardedConnection connection() {
			return this.connection;
		}

		@Override
		@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
			switch (method.getName()) {
				case "getStatement" -> {
					if (this.statement != null) {
						return this.statement;
					}
				}
				case "insertRow", "updateRow", "deleteRow" -> {
					return this.connection.execute(this, null, method, args);
				}
				case "unwrap" -> {
					return this.connection.unwrap(proxy, (Wrapper) target(), (Class<?>) args[0]);
				}
				case "isWrapperFor" -> {
					return this.connection.isWrapperFor(proxy, (Wrapper) target(), (Class<?>) args[0]);
				}
				default -> {
				}
			}
			if (target() instanceof ResultSet && method.getReturnType().isPrimitive()) {
				return call(method, args);
			}
			return guarded(proxy, call(method, args));
		}

	}

	/**
	 * What a run sees of a driver's object: the methods of one interface of the driver.
	 * Each call counts as an execution, because it can write (as COPY does), and is
	 * refused outside of a transaction.
	 */
	static final class OfDriver extends GuardedObject {

		private final GuardedConnection connection;

		OfDriver(Object target, GuardedConnection connection) {
			super(target);
			this.connection = connection;
		}

		@Override
		GuardedConnection connection() {
			return this.connection;
		}

		@Override
		@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
			this.connection.callDriver(method.getName());
			return guarded(proxy, call(method, args));
		}

	}

}
