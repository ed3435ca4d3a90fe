package io.github.singletonjob.runtime;

import java.util.List;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;

/**
 * Is told what becomes of attempts and runs. A failing listener is logged and harms
 * nothing.
 */
@FunctionalInterface
public interface RunListener {

	/**
	 * Tells several listeners, one after the other, also if one of them fails.
	 * @param listeners the listeners
	 * @return a listener
	 */
	static RunListener all(List<? extends RunListener> listeners) {
		return new RunListeners(listeners.stream().map(CarefulRunListener::new).toList());
	}

	/**
	 * The body was not run. Called on the thread that asked.
	 * @param job the job
	 * @param outcome why
	 */
	default void skipped(JobId job, RunOutcome outcome) {
	}

	/**
	 * The body was not run, because the store or the guarded database did not answer, or
	 * the answer made no run possible. Called on the thread that asked.
	 * @param job the job
	 * @param cause what the caller gets
	 */
	default void notStarted(JobId job, Throwable cause) {
	}

	/**
	 * A run has its lease, the fence stands at its token, and its body is about to begin.
	 * Called on the thread of the job.
	 * @param run the run
	 */
	default void granted(LeasedRun run) {
	}

	/**
	 * The store has been asked to renew a run's lease, together with others. Called on a
	 * renewal thread; must not block.
	 * @param run the run
	 * @param report what came of it
	 */
	default void renewed(LeasedRun run, RenewalReport report) {
	}

	/**
	 * The guarded database has refused a write of a run. Called on the thread that wrote,
	 * perhaps more than once for a run; must not block.
	 * @param run the run, which is lost
	 * @param refusal what the database said
	 */
	default void refused(LeasedRun run, StaleTokenException refusal) {
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
