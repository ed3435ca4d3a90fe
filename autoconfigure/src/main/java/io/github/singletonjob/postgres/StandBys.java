package io.github.singletonjob.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the stand-bys of this instance. All of them share one connection and one thread,
 * which are there only while somebody stands by, and a moment longer.
 * <p>
 * A release is notified by the session that releases. A session that dies notifies
 * nobody, so the locks are looked at a few times in a second, too: all in one query, at
 * moments that differ between instances.
 */
final class StandBys {

	private static final Log logger = LogFactory.getLog(StandBys.class);

	private static final Duration CLOSING_TIME = Duration.ofSeconds(1);

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(3);

	private static final int LONGEST_PAUSE = 500;

	private static final int LONGEST_BACK_OFF = 10_000;

	private static final long LINGER_NANOS = Duration.ofSeconds(2).toNanos();

	private static final long AGAIN_NANOS = Duration.ofSeconds(2).toNanos();

	private final Set<StandBy> standBys = ConcurrentHashMap.newKeySet();

	private final ReentrantLock access = new ReentrantLock();

	private final CountDownLatch closed = new CountDownLatch(1);

	private final SessionSource source;

	private final String applicationName;

	private @Nullable Thread thread;

	private volatile @Nullable Connection connection;

	private int failures;

	StandBys(SessionSource source, String applicationName) {
		this.source = source;
		this.applicationName = applicationName;
	}

	LeaseWatch add(JobId job, Runnable freed) {
		StandBy standBy = new StandBy(LockKey.of(job), freed);
		this.access.lock();
		try {
			if (isClosed()) {
				throw new LeaseStoreException("The Postgres lease store is closed", null);
			}
			if (this.thread == null || !this.thread.isAlive()) {
				this.thread = start();
			}
			this.standBys.add(standBy);
		}
		finally {
			this.access.unlock();
		}
		return () -> this.standBys.remove(standBy);
	}

	private Thread start() {
		// Inherits nothing from the thread of whoever stands by first
		Thread fresh = new Thread(null, this::live, "singleton-job-postgres-watch", 0, false);
		fresh.setDaemon(true);
		fresh.setContextClassLoader(getClass().getClassLoader());
		try {
			fresh.start();
			return fresh;
		}
		catch (OutOfMemoryError ex) {
			throw new LeaseStoreException("No thread could be created to watch leases (" + ex.getMessage()
					+ "). Look at the limits of this process for threads and memory", ex);
		}
	}

	private boolean isClosed() {
		return this.closed.getCount() == 0;
	}

	void close() {
		Thread last;
		this.access.lock();
		try {
			this.closed.countDown();
			this.standBys.clear();
			last = this.thread;
		}
		finally {
			this.access.unlock();
		}
		Connection current = this.connection;
		if (current != null) {
			LeaseStatements.end(current);
		}
		try {
			if (last != null) {
				last.join(CLOSING_TIME.toMillis());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Nothing ends this thread while somebody stands by: not even a lack of memory. */
	private void live() {
		while (!endIfUnused()) {
			try {
				watchOnce();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return;
			}
			catch (Throwable ex) {
				tell(ex);
				backOff();
			}
		}
	}

	private void watchOnce() throws SQLException, InterruptedException {
		Connection opened = this.source.open();
		try {
			this.connection = opened;
			Notifications notifications = configure(opened);
			watch(opened, notifications);
		}
		finally {
			this.connection = null;
			LeaseStatements.end(opened);
		}
	}

	private @Nullable Notifications configure(Connection opened) throws SQLException {
		LeaseStatements.limitReply(opened, REPLY_TIMEOUT);
		opened.setAutoCommit(true);
		try (PreparedStatement statement = opened.prepareStatement(LeaseSql.WATCH_SETTINGS)) {
			statement.setString(1, this.applicationName);
			statement.execute();
		}
		try (Statement statement = opened.createStatement()) {
			statement.execute("listen " + LeaseSql.CHANNEL);
			return Notifications.of(opened);
		}
		catch (SQLException ex) {
			if (LeaseStatements.isBroken(opened, ex)) {
				throw ex;
			}
			logger.debug("Releases cannot be listened to, leases are looked at instead", ex);
			return null;
		}
	}

	/** Ends normally only if nobody stands by for a while. */
	private void watch(Connection opened, @Nullable Notifications notifications)
			throws SQLException, InterruptedException {
		// What was not seen since the last look may have been anything
		this.standBys.forEach((standBy) -> standBy.held = true);
		long used = System.nanoTime();
		long nextLook = used;
		while (!isClosed()) {
			long now = System.nanoTime();
			if (!this.standBys.isEmpty()) {
				used = now;
			}
			else if (now - used >= LINGER_NANOS) {
				return;
			}
			if (now - nextLook >= 0) {
				look(opened);
				this.failures = 0;
				nextLook = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(jittered(LONGEST_PAUSE));
			}
			listen(notifications, nextLook);
		}
	}

	private void look(Connection opened) throws SQLException {
		Set<Long> keys = this.standBys.stream().map((standBy) -> standBy.lockKey).collect(Collectors.toSet());
		if (keys.isEmpty()) {
			return;
		}
		Set<Long> held = new HashSet<>();
		try (PreparedStatement statement = opened.prepareStatement(LeaseSql.HELD)) {
			statement.setArray(1, opened.createArrayOf("bigint", keys.toArray()));
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					held.add(row.getLong(1));
				}
			}
		}
		for (StandBy standBy : this.standBys) {
			// Those that were added in the meantime were not asked for
			if (keys.contains(standBy.lockKey)) {
				standBy.seen(held.contains(standBy.lockKey));
			}
		}
	}

	private void listen(@Nullable Notifications notifications, long until) throws SQLException, InterruptedException {
		long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
		int millis = (int) Math.max(1, Math.min(LONGEST_PAUSE, left));
		if (notifications == null) {
			this.closed.await(millis, TimeUnit.MILLISECONDS);
			return;
		}
		Set<String> released = notifications.await(millis);
		for (StandBy standBy : this.standBys) {
			if (released.contains(String.valueOf(standBy.lockKey))) {
				standBy.held = false;
				standBy.wake();
			}
		}
	}

	private void tell(Throwable cause) {
		try {
			this.failures++;
			if (isClosed()) {
				return;
			}
			String message = "Leases in Postgres cannot be watched for the moment, stand-bys look by themselves: "
					+ ((cause instanceof SQLException failure) ? SqlFailure.explain(failure) : cause);
			if (this.failures == 1) {
				logger.warn(message);
			}
			else {
				logger.debug(message, cause);
			}
		}
		catch (Throwable ex) {
			// Nothing can be said now; the next failure is told
			this.failures = 0;
		}
	}

	private void backOff() {
		try {
			int longest = Math.min(LONGEST_BACK_OFF, LONGEST_PAUSE << Math.min(Math.max(0, this.failures - 1), 10));
			this.closed.await(jittered(longest), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static int jittered(int longest) {
		return ThreadLocalRandom.current().nextInt(longest / 2, longest + 1);
	}

	private boolean endIfUnused() {
		this.access.lock();
		try {
			if (isClosed() || this.standBys.isEmpty() || Thread.currentThread().isInterrupted()) {
				this.thread = null;
				return true;
			}
			return false;
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * One job that this instance stands by for. Woken once when the lease becomes free,
	 * and again from time to time while it stays so, because the attempt that follows may
	 * fail. Used by the watching thread alone.
	 */
	private final class StandBy {

		private final long lockKey;

		private final Runnable freed;

		private boolean held = true;

		private long woken;

		StandBy(long lockKey, Runnable freed) {
			this.lockKey = lockKey;
			this.freed = freed;
		}

		void seen(boolean isHeld) {
			if (!isHeld && (this.held || System.nanoTime() - this.woken >= AGAIN_NANOS)) {
				wake();
			}
			this.held = isHeld;
		}

		void wake() {
			if (!StandBys.this.standBys.contains(this)) {
				return;
			}
			this.woken = System.nanoTime();
			try {
				this.freed.run();
			}
			catch (RuntimeException | Error ex) {
				logger.warn("A stand-by could not be told that a lease may be free; it looks by itself", ex);
			}
		}

	}

	/**
	 * The part of the driver that tells what a session was notified of. JDBC has no such
	 * thing, so it is the driver's own interface, called by name because another driver
	 * may do as well for everything else.
	 *
	 * @param driver the driver's connection
	 * @param get waits for notifications
	 * @param parameter what was sent with one
	 */
	private record Notifications(Object driver, Method get, Method parameter) {

		/** Null if the driver is another one. */
		static @Nullable Notifications of(Connection connection) throws SQLException {
			try {
				ClassLoader loader = StandBys.class.getClassLoader();
				Class<?> type = Class.forName("org.postgresql.PGConnection", false, loader);
				Method parameter = Class.forName("org.postgresql.PGNotification", false, loader)
					.getMethod("getParameter");
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

}
