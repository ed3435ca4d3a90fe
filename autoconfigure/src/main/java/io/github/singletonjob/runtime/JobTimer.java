package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

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

	/**
	 * Waits on the calling thread until something is completed, normally or not.
	 * @param done what to wait for
	 * @param atMost how long to wait at most
	 * @throws InterruptedException if the thread is interrupted
	 */
	default void await(CompletableFuture<?> done, Duration atMost) throws InterruptedException {
		try {
			done.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException | CancellationException ex) {
			// The caller looks at what it waits for
		}
	}

}
