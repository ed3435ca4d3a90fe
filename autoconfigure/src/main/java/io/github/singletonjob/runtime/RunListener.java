package io.github.singletonjob.runtime;

import io.github.singletonjob.lease.LeasedRun;

/**
 * Is told what becomes of runs, on a worker thread. A failing listener is logged and
 * harms nothing.
 */
public interface RunListener {

	/**
	 * A run was lost before its body ended, after the body was told. Called once for a
	 * run.
	 * @param run the run
	 * @param reason what happened, for people
	 */
	void lost(LeasedRun run, String reason);

}
