package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The one thread on which those who stand by do everything, so that they need no locks.
 * Nothing on it waits for etcd. There is none while nobody stands by.
 */
final class QueueThread implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(QueueThread.class);

	private static final Duration IDLE = Duration.ofSeconds(5);

	private final ScheduledThreadPoolExecutor executor;

	QueueThread() {
		this.executor = new ScheduledThreadPoolExecutor(1, (task) -> {
			// Inherits nothing from the job that it starts for
			Thread thread = new Thread(null, task, "singleton-job-etcd-queue", 0, false);
			thread.setDaemon(true);
			thread.setContextClassLoader(getClass().getClassLoader());
			return thread;
		});
		this.executor.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
		this.executor.allowCoreThreadTimeOut(true);
	}

	void execute(Runnable task) {
		after(Duration.ZERO, task);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // a task reports its failure itself
	void after(Duration delay, Runnable task) {
		try {
			this.executor.schedule(guarded(task), delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Not done any more, because the etcd lease store is closed", ex);
		}
	}

	private static Runnable guarded(Runnable task) {
		return () -> {
			try {
				task.run();
			}
			catch (RuntimeException ex) {
				logger.warn("Standing by in etcd failed: " + EtcdFailure.code(ex), ex);
			}
		};
	}

	/** What is still to be done is not done any more. */
	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
