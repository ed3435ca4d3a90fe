package io.github.singletonjob.runtime;

import io.github.singletonjob.lease.LeasedRun;

/**
 * Something that lives for one run, such as the beans of a job.
 */
@FunctionalInterface
public interface RunScope {

	/**
	 * Opens the scope. Called on the thread of the job, which the run is bound to, right
	 * before its body.
	 * @param run the run
	 * @return what to close after the body; a failure to close is logged and does not
	 * replace what came of the body
	 * @throws RuntimeException if the body is not to begin; the run has failed then
	 */
	Opened open(LeasedRun run);

	/**
	 * A scope that is open.
	 */
	@FunctionalInterface
	interface Opened {

		/**
		 * Leaves the thread of the job: called on it right after the body, or after the
		 * call that has begun it if the job returns a stage.
		 */
		void close();

		/**
		 * Ends the scope: called once after {@link #close()}, when the work of the run
		 * has ended and its lease is still kept, on a thread that the run is bound to.
		 */
		default void end() {
		}

	}

}
