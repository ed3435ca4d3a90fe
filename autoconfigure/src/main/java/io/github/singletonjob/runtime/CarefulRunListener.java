package io.github.singletonjob.runtime;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Lets no failure of a listener reach a run.
 *
 * @param delegate the listener
 */
record CarefulRunListener(RunListener delegate) implements RunListener {

	private static final Log logger = LogFactory.getLog(CarefulRunListener.class);

	@Override
	public void skipped(JobId job, RunOutcome outcome) {
		tell(job.name(), () -> this.delegate.skipped(job, outcome));
	}

	@Override
	public void granted(LeasedRun run) {
		tell(run.job(), () -> this.delegate.granted(run));
	}

	@Override
	public void notStarted(JobId job, Throwable cause) {
		tell(job.name(), () -> this.delegate.notStarted(job, cause));
	}

	@Override
	public void renewed(LeasedRun run, RenewalReport report) {
		tell(run.job(), () -> this.delegate.renewed(run, report));
	}

	@Override
	public void refused(LeasedRun run, StaleTokenException refusal) {
		tell(run.job(), () -> this.delegate.refused(run, refusal));
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		tell(run.job(), () -> this.delegate.lost(run, reason));
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		tell(run.job(), () -> this.delegate.ended(run, result));
	}

	private static void tell(String job, Runnable call) {
		try {
			call.run();
		}
		catch (RuntimeException | Error ex) {
			logger.warn(job + ": a listener failed: " + ex.getMessage(), ex);
		}
	}

}
