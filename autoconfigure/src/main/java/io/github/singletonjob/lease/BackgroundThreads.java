package io.github.singletonjob.lease;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The threads on which a store works when no caller waits. They do not keep the JVM
 * alive, and end when there was nothing to do for some seconds.
 */
public final class BackgroundThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(BackgroundThreads.class);

	private static final Duration IDLE = Duration.ofSeconds(5);

	private final String name;

	private final ScheduledThreadPoolExecutor executor;

	/**
	 * Creates the pool; threads start with the first task.
	 * @param name the name of its threads
	 * @param atMost how many there may be
	 */
	public BackgroundThreads(String name, int atMost) {
		this.name = name;
		this.executor = new ScheduledThreadPoolExecutor(atMost, (task) -> newThread(name, task));
		this.executor.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setRemoveOnCancelPolicy(true);
	}

	/**
	 * Creates a daemon thread that inherits nothing, such as a tenant or a user, from the
	 * job for which it is started. Its context class loader is that of this library,
	 * because drivers are looked for by it.
	 * @param name the name of the thread
	 * @param task what it does
	 * @return a thread that is not started yet
	 */
	public static Thread newThread(String name, Runnable task) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(BackgroundThreads.class.getClassLoader());
		return thread;
	}

	/**
	 * Does something as soon as a thread is free.
	 * @param task what to do; a failure is logged
	 */
	public void execute(Runnable task) {
		after(Duration.ZERO, task);
	}

	/**
	 * Does something later, unless the pool is closed by then.
	 * @param delay how much later
	 * @param task what to do; a failure is logged
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // a task reports its failure itself
	public void after(Duration delay, Runnable task) {
		try {
			this.executor.schedule(() -> perform(task), delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Not done any more, because " + this.name + " is closed", ex);
		}
	}

	private void perform(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException ex) {
			logger.warn("A background task of " + this.name + " has failed", ex);
		}
	}

	/** What is still to be done is not done any more. */
	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
