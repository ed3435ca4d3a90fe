package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The background threads of a store: two to connect, one for what is to be done later.
 * There is none while there is nothing to do.
 */
final class StoreThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(StoreThreads.class);

	private static final int THREADS = 3;

	private static final Duration IDLE = Duration.ofSeconds(5);

	/** How long what an old connection has under way may still be answered. */
	private static final Duration GRACE = Duration.ofSeconds(1);

	private final ScheduledThreadPoolExecutor executor;

	StoreThreads() {
		this.executor = new ScheduledThreadPoolExecutor(THREADS, (task) -> {
			// Inherits nothing from the job that it starts for
			Thread thread = new Thread(null, task, "singleton-job-redis", 0, false);
			thread.setDaemon(true);
			thread.setContextClassLoader(getClass().getClassLoader());
			return thread;
		});
		this.executor.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setRemoveOnCancelPolicy(true);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // a task reports its failure itself
	void after(Duration delay, Runnable task) {
		try {
			this.executor.schedule(guarded(task), delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Not done any more, because the Redis lease store is closed", ex);
		}
	}

	void closeLater(LeaseConnection old) {
		after(GRACE, old::close);
	}

	private static Runnable guarded(Runnable task) {
		return () -> {
			try {
				task.run();
			}
			catch (RuntimeException ex) {
				logger.warn("A background task of the Redis lease store failed: " + RedisFailure.explain(ex), ex);
			}
		};
	}

	/** What is still to be done is not done any more. */
	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
