package io.github.singletonjob.jpa;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * The run that writes a row.
 */
final class WritingRun {

	private WritingRun() {
	}

	/** The innermost run, or that of the named job among those around it. */
	static @Nullable JobRun find(String job) {
		JobRun run = CurrentJobRun.find().orElse(null);
		while (run != null && !job.isEmpty() && !run.job().equals(job)) {
			run = (run instanceof LeasedRun leased) ? leased.enclosing().orElse(null) : null;
		}
		return run;
	}

	static void ensureNotBelow(JobRun run, long seen, String entity) {
		if (run instanceof LeasedRun leased) {
			leased.ensureOpen();
		}
		if (seen > run.token()) {
			StaleTokenException refusal = new StaleTokenException(run.job(), run.token(),
					run.job() + ": a row of " + entity + " carries token " + seen + ", so it is not written with token "
							+ run.token() + ": a newer run has written it, or another job");
			if (run instanceof LeasedRun leased) {
				leased.refused(refusal);
			}
			throw refusal;
		}
	}

}
