package io.github.singletonjob.runtime;

import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

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
}
