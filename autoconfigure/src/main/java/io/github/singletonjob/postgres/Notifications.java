package io.github.singletonjob.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The part of the driver that tells what a session was notified of. JDBC has no such
 * thing, so it is the driver's own interface, called by name because another driver may
 * do as well for everything else.
 */
final class Notifications {

	private final Object driver;

	private final Method get;

	private final Method parameter;

	private Notifications(Object driver, Method get, Method parameter) {
		this.driver = driver;
		this.get = get;
		this.parameter = parameter;
	}

	/**
	 * Finds it behind a connection.
	 * @param connection any layer of it
	 * @return null if the driver is another one
	 */
	static @Nullable Notifications of(Connection connection) throws SQLException {
		try {
			ClassLoader loader = Notifications.class.getClassLoader();
			Class<?> type = Class.forName("org.postgresql.PGConnection", false, loader);
			Method parameter = Class.forName("org.postgresql.PGNotification", false, loader).getMethod("getParameter");
			return connection.isWrapperFor(type) ? new Notifications(connection.unwrap(type),
					type.getMethod("getNotifications", int.class), parameter) : null;
		}
		catch (ClassNotFoundException | NoSuchMethodException ex) {
			return null;
		}
	}

	/**
	 * Waits for the next ones.
	 * @param millis how long, in milliseconds, at least 1
	 * @return what was sent, empty if nothing was
	 */
	Set<String> await(int millis) throws SQLException {
		Set<String> sent = new HashSet<>();
		if (call(this.get, this.driver, millis) instanceof Object[] notifications) {
			for (Object notification : notifications) {
				sent.add(String.valueOf(call(this.parameter, notification)));
			}
		}
		return sent;
	}

	private static @Nullable Object call(Method method, Object target, Object... arguments) throws SQLException {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			if (ex.getCause() instanceof SQLException failure) {
				throw failure;
			}
			throw new IllegalStateException("The driver could not be asked for notifications", ex.getCause());
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException("The driver could not be asked for notifications", ex);
		}
	}

}
