package io.github.singletonjob.runtime;

import java.time.Duration;

/**
 * Starts short tasks later. A task must not block: everything that waits is handed to a
 * worker.
 */
public interface JobTimer {

	/**
	 * Starts a task once.
	 * @param delay from now, on the monotonic clock; not positive means at once
	 * @param task the task
	 * @return takes the task back if it has not been started yet
	 */
	Runnable after(Duration delay, Runnable task);

}
