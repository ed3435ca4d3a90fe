package io.github.singletonjob.simulation;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunListener;

/**
 * What the runtime of a process reports, while there is somebody to report it to.
 *
 * @param process the process
 * @param history takes note of it
 */
record Observer(SimulatedProcess process, History history) implements RunListener {

	@Override
	public void lost(LeasedRun run, String reason) {
		if (!this.process.isGone()) {
			this.history.lost(run);
		}
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		if (!this.process.isGone()) {
			this.history.result(run, result);
		}
	}

}
