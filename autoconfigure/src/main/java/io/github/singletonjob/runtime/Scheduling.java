package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.random.RandomGenerator;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The time and the threads that the runtime works with.
 *
 * @param clock the clocks
 * @param timer starts short tasks that never block
 * @param workers executes what may block; never rejects or runs a task on the timer's
 * thread in production
 * @param random spreads retries
 */
public record Scheduling(JobClock clock, JobTimer timer, Executor workers, RandomGenerator random) {

	private static final Log logger = LogFactory.getLog(Scheduling.class);

	private static final Duration RETRY = Duration.ofSeconds(1);

	/** A hundred years, because nanoseconds overflow soon after. */
	private static final Duration LONGEST_TIMER = Duration.ofDays(36_500);

	/**
	 * Has a worker do what nobody waits for: a failure is logged, and no more. If there
	 * is no thread for it, it is tried again until this application ends.
	 */
	void work(Runnable task) {
		try {
			this.workers.execute(() -> {
				try {
					task.run();
				}
				catch (RuntimeException ex) {
					logger.warn("A background task failed: " + ex.getMessage(), ex);
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.warn("A background task could not start, trying again: " + ex.getMessage());
			this.timer.after(RETRY, () -> work(task));
		}
	}

	/**
	 * Starts a short task after a time that an application has chosen, and that may be
	 * longer than a timer can wait.
	 * @return takes it back
	 */
	Runnable after(Duration chosen, Runnable task) {
		return this.timer.after((chosen.compareTo(LONGEST_TIMER) <= 0) ? chosen : LONGEST_TIMER, task);
	}

	/** Has a worker do it or, if there is no thread for it, the calling one. */
	void workOrRun(Runnable task) {
		try {
			this.workers.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.warn("A background task could not start, done at once: " + ex.getMessage());
			task.run();
		}
	}

}
