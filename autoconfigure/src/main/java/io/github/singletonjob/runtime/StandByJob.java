package io.github.singletonjob.runtime;

import java.util.Set;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import org.jspecify.annotations.Nullable;

/**
 * A job that an instance stands by for.
 *
 * @param id the job
 * @param timing the times of its lease
 * @param schedules the schedules whose open fire times are to be finished; empty for a
 * job that is to run all the time
 * @param attempt runs it
 */
public record StandByJob(JobId id, LeaseTiming timing, Set<String> schedules, Attempt attempt) {

	/**
	 * Makes the set immutable.
	 */
	public StandByJob {
		schedules = Set.copyOf(schedules);
	}

	boolean isContinuous() {
		return this.schedules.isEmpty();
	}

	/**
	 * One attempt to run a job, on a worker thread.
	 */
	@FunctionalInterface
	public interface Attempt {

		/**
		 * Asks for the lease and runs the body.
		 * @param firing what is to be finished; null for a job that runs all the time
		 * @return how it ended, also if the body threw
		 * @throws Throwable if the body was not run, because the store or the guarded
		 * database did not answer
		 */
		RunResult run(@Nullable Firing firing) throws Throwable;

	}

}
