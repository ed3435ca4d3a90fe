package io.github.singletonjob.fencing;

import java.io.OutputStream;
import java.io.Writer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.NClob;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.List;

import io.github.singletonjob.fencing.StatementText.Command;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.util.ClassUtils;

/**
 * One of JDBC's objects that belongs to a guarded connection. No object that it hands out
 * leads back to the connection itself: results are guarded in turn.
 */
abstract class GuardedObject implements InvocationHandler {

	private static final @Nullable Object[] NONE = {};

	private static final List<Class<?>> RESULTS = List.of(DatabaseMetaData.class, Array.class, Blob.class, NClob.class,
			Clob.class);

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

	/**
	 * The command in what this object would execute that begins or ends a transaction.
	 * @param method what is called
	 * @param args its arguments
	 * @return the command, or null if there is none
	 * @throws SQLException if the connection is closed
	 */
	@Nullable Command command(Method method, @Nullable Object[] args) throws SQLException {
		return null;
	}

	/**
	 * Whether what this object would execute may roll back to a savepoint.
	 * @param method what is called
	 * @param args its arguments
	 * @return false if it certainly does not
	 */
	boolean mayRollBackToSavepoint(Method method, @Nullable Object[] args) {
		return false;
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
		Class<?> type = resultType(result);
		if (type != null) {
			return proxy(type, new Result(result, connection(), null));
		}
		if (isStream(result)) {
			connection().transaction().handOutWriter();
		}
		return result;
	}

	private static @Nullable Class<?> resultType(Object result) {
		for (Class<?> type : RESULTS) {
			if (type.isInstance(result)) {
				return type;
			}
		}
		return null;
	}

	// A stream of a large object writes where it cannot be seen
	private static boolean isStream(Object result) {
		return result instanceof OutputStream || result instanceof Writer;
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
	 * A result set, an array, a large object or the metadata of a connection. What is
	 * changed through a result set is a statement like others.
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
					return this.connection.execute(this, method, args);
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
			if (target() instanceof Blob || target() instanceof Clob) {
				return guarded(proxy, this.connection.callLargeObject(this, method, args));
			}
			if (target() instanceof ResultSet && method.getReturnType().isPrimitive()) {
				return call(method, args);
			}
			return guarded(proxy, call(method, args));
		}

	}

	/**
	 * What a run sees of a driver's object: the methods of one of the driver's
	 * interfaces. Each call counts as an execution, because it can write (as COPY does),
	 * and is refused outside of a transaction. What the driver answers is guarded
	 * likewise, for it may be kept longer than the transaction.
	 */
	static final class OfDriver extends GuardedObject {

		private final GuardedConnection connection;

		private final boolean operation;

		OfDriver(Object target, GuardedConnection connection) {
			this(target, connection, false);
		}

		private OfDriver(Object target, GuardedConnection connection, boolean operation) {
			super(target);
			this.connection = connection;
			this.operation = operation;
		}

		@Override
		GuardedConnection connection() {
			return this.connection;
		}

		@Override
		@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
			try {
				return guardedForLife(proxy, method, callDriver(method, args));
			}
			catch (SQLException ex) {
				// Not every method of a driver declares that it can be refused
				throw declares(method, ex) ? ex : new IllegalStateException(ex.getMessage(), ex);
			}
		}

		private @Nullable Object callDriver(Method method, @Nullable Object[] args) throws Throwable {
			return this.operation ? this.connection.continueDriver(this, method, args)
					: this.connection.callDriver(this, method, args);
		}

		private @Nullable Object guardedForLife(Object proxy, Method method, @Nullable Object answer)
				throws SQLException {
			if (answer == target()) {
				return proxy;
			}
			Object guarded = guarded(proxy, answer);
			return (guarded == answer && answer != null && isOfDriver(answer.getClass()))
					? guardedForLife(method, answer) : guarded;
		}

		private static boolean declares(Method method, Exception exception) {
			for (Class<?> type : method.getExceptionTypes()) {
				if (type.isInstance(exception)) {
					return true;
				}
			}
			return false;
		}

		// Neither the values of Java nor of enums write
		private static boolean isOfDriver(Class<?> type) {
			return type.getClassLoader() != null && type.getClassLoader() != ClassLoader.getPlatformClassLoader()
					&& !type.isArray() && !type.isEnum();
		}

		private Object guardedForLife(Method method, Object answer) throws SQLException {
			if (method.getReturnType().isInterface()) {
				OfDriver guard = new OfDriver(answer, this.connection, true);
				return Proxy.newProxyInstance(answer.getClass().getClassLoader(), publicInterfaces(answer), guard);
			}
			OfDriver guard = new OfDriver(answer, this.connection);
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(answer);
			factory.setProxyTargetClass(true);
			factory.setOpaque(true);
			factory.addAdvice((MethodInterceptor) guard::invoke);
			try {
				if (!hasFinalMethod(answer.getClass())) {
					return factory.getProxy(answer.getClass().getClassLoader());
				}
			}
			catch (AopConfigException ex) {
				throw Refusals.ofDriverObject(method, answer.getClass(), ex);
			}
			throw Refusals.ofDriverObject(method, answer.getClass(), null);
		}

		private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Object proxy = ((ProxyMethodInvocation) invocation).getProxy();
			return invoke(proxy, invocation.getMethod(), invocation.getArguments());
		}

		private static Class<?>[] publicInterfaces(Object object) {
			return ClassUtils.getAllInterfacesAsSet(object)
				.stream()
				.filter((type) -> Modifier.isPublic(type.getModifiers()))
				.toArray(Class<?>[]::new);
		}

		// It would be called past the guard
		private static boolean hasFinalMethod(Class<?> type) {
			for (Method method : type.getMethods()) {
				if (Modifier.isFinal(method.getModifiers()) && method.getDeclaringClass() != Object.class) {
					return true;
				}
			}
			return false;
		}

	}

}
