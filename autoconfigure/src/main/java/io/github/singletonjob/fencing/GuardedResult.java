package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.ResultSet;
import java.sql.Wrapper;

import org.jspecify.annotations.Nullable;

/**
 * A result set, an array or the metadata of a guarded connection. What is changed through
 * a result set is a statement like others.
 */
final class GuardedResult extends GuardedObject {

	private final GuardedConnection connection;

	private final @Nullable Object statement;

	/**
	 * Guards a result.
	 * @param result the driver's object
	 * @param connection the guarded connection
	 * @param statement the guarded statement that made it, or null
	 */
	GuardedResult(Object result, GuardedConnection connection, @Nullable Object statement) {
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
				return this.connection.guard().execute(new Execution(null, null, () -> call(method, args)));
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
