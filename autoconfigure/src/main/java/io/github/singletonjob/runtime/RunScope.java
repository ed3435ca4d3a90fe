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
	 * @return what to close on the same thread right after the body, while the lease is
	 * still kept; a failure to close is logged and does not replace what came of the body
	 * @throws RuntimeException if the body is not to begin; the run has failed then
	 */
	Opened open(LeasedRun run);

	/**
	 * A scope that is open.
	 */
	@FunctionalInterface
	interface Opened {

		/**
		 * Closes the scope.
		 */
		void close();

	}

}
