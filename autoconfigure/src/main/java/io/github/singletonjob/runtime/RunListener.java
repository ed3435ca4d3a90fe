package io.github.singletonjob.runtime;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;

/**
 * Is told what becomes of attempts and runs. A failing listener is logged and harms
 * nothing.
 */
@FunctionalInterface
public interface RunListener {

	/**
	 * The body was not run. Called on the thread that asked.
	 * @param job the job
	 * @param outcome why
	 */
	default void skipped(JobId job, RunOutcome outcome) {
	}

	/**
	 * A run has its lease, the fence stands at its token, and its body is about to begin.
	 * Called on the thread of the job.
	 * @param run the run
	 */
	default void granted(LeasedRun run) {
	}

	/**
	 * A run was lost before its body ended, after the body was told. Called once for a
	 * run, on a worker thread.
	 * @param run the run
	 * @param reason what happened, for people
	 */
	void lost(LeasedRun run, String reason);

	/**
	 * A run has ended and its lease was given back. Called on the thread on which its
	 * body ended.
	 * @param run the run
	 * @param result how it ended
	 */
	default void ended(LeasedRun run, RunResult result) {
	}

}
