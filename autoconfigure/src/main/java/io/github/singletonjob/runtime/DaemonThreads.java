package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.lease.BackgroundThreads;
import org.jspecify.annotations.Nullable;

/**
 * The runtime's own daemon threads: one for timers, so that a stuck call can never hide a
 * deadline, and workers that come and go. They are no beans: an executor bean of ours
 * would make Spring Boot's own step back.
 */
public final class DaemonThreads implements JobTimer, Executor, AutoCloseable {

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor workers;

	private volatile @Nullable ClassLoader contextClassLoader = Thread.currentThread().getContextClassLoader();

	/**
	 * Creates the pools; threads start with the first task.
	 */
	public DaemonThreads() {
		this.timer = new ScheduledThreadPoolExecutor(1, threads("singleton-job-timer-"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.workers = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(),
				threads("singleton-job-worker-"));
	}

	/**
	 * Bodies and listeners look for classes by the loader of their thread: it has to be
	 * that of the application, which needs not be the one that loaded this class.
	 * @param loader for threads that start from here on; before, it is that of the thread
	 * that created the pools
	 */
	public void useContextClassLoader(@Nullable ClassLoader loader) {
		this.contextClassLoader = loader;
	}

	@Override
	public Runnable after(Duration delay, Runnable task) {
		if (this.timer.isShutdown()) {
			return () -> {
			};
		}
		ScheduledFuture<?> future = this.timer.schedule(task, Math.max(0, delay.toNanos()), TimeUnit.NANOSECONDS);
		return () -> future.cancel(false);
	}

	@Override
	public void execute(Runnable task) {
		this.workers.execute(task);
	}

	@Override
	public void close() {
		this.timer.shutdown();
		this.workers.shutdown();
	}

	private ThreadFactory threads(String prefix) {
		AtomicInteger count = new AtomicInteger();
		return (task) -> {
			Thread thread = BackgroundThreads.newThread(prefix + count.incrementAndGet(), task);
			thread.setContextClassLoader(this.contextClassLoader);
			return thread;
		};
	}

}
