package io.github.singletonjob.fencing;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * What a run sees of a driver's object: the methods of one interface of the driver. Each
 * call counts as an execution, because it can write (as COPY does), and is refused
 * outside of a transaction.
 */
final class GuardedDriverObject extends GuardedObject {

	private final GuardedConnection connection;

	GuardedDriverObject(Object target, GuardedConnection connection) {
		super(target);
		this.connection = connection;
	}

	@Override
	GuardedConnection connection() {
		return this.connection;
	}

	@Override
	@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
		this.connection.guard().callDriver(method.getName());
		return guarded(proxy, call(method, args));
	}

}
