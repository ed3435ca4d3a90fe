package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Remembers which sessions of a data source have a bound for idle transactions, and what
 * they had before. The key is the driver's own connection, which pools hand out again and
 * again; of another driver's connection nobody can tell which session it is, so it gets
 * no bound.
 */
final class SessionBounds {

	private static final @Nullable Class<?> DRIVER_CONNECTION = driverConnection();

	private final FencingSettings settings;

	private final Map<Object, Bound> bounds = Collections.synchronizedMap(new WeakHashMap<>());

	SessionBounds(FencingSettings settings) {
		this.settings = settings;
	}

	private static @Nullable Class<?> driverConnection() {
		String name = "org.postgresql.PGConnection";
		ClassLoader loader = SessionBounds.class.getClassLoader();
		return ClassUtils.isPresent(name, loader) ? ClassUtils.resolveClassName(name, loader) : null;
	}

	/**
	 * The bound that runs want.
	 * @param runs the runs
	 * @return milliseconds, 0 for none
	 */
	long millis(List<LeasedRun> runs) {
		Duration configured = this.settings.idleInTransactionTimeout();
		if (configured != null) {
			return configured.toMillis();
		}
		long shortest = Integer.MAX_VALUE;
		for (LeasedRun run : runs) {
			shortest = Math.min(shortest, run.ttl().toMillis());
		}
		return shortest;
	}

	boolean isEmpty() {
		return this.bounds.isEmpty();
	}

	/**
	 * The session behind a connection.
	 * @param connection any layer of it
	 * @return what identifies the session, or null if it cannot be told
	 * @throws SQLException if the connection is closed
	 */
	@Nullable Object session(Connection connection) throws SQLException {
		if (DRIVER_CONNECTION == null || !connection.isWrapperFor(DRIVER_CONNECTION)) {
			return null;
		}
		return connection.unwrap(DRIVER_CONNECTION);
	}

	@Nullable Bound find(Object session) {
		return this.bounds.get(session);
	}

	void remember(Object session, @Nullable Bound bound) {
		if (bound != null) {
			this.bounds.put(session, bound);
		}
		else {
			this.bounds.remove(session);
		}
	}

	/**
	 * A bound that was set on a session.
	 *
	 * @param before the setting that the session had before
	 * @param millis what the runs wanted
	 */
	record Bound(String before, long millis) {
	}

}
