package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunListener;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes what becomes of runs as application events.
 *
 * @param events where they are published
 */
record RunEvents(ApplicationEventPublisher events) implements RunListener {

	@Override
	public void skipped(JobId job, RunOutcome outcome) {
		this.events.publishEvent(new JobRunEvent.Skipped(job.name(), outcome));
	}

	@Override
	public void granted(LeasedRun run) {
		this.events.publishEvent(new JobRunEvent.Granted(run.job(), run.token(), run.holder(),
				run.fireTime().orElse(null), run.isTakeover()));
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		this.events.publishEvent(new JobRunEvent.Lost(run.job(), run.token(), run.holder(), reason));
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		if (result.outcome() == RunOutcome.COMPLETED) {
			this.events
				.publishEvent(new JobRunEvent.Completed(run.job(), run.token(), run.holder(), result.fireTime()));
		}
		else if (result.outcome() == RunOutcome.FAILED) {
			this.events.publishEvent(
					new JobRunEvent.Failed(run.job(), run.token(), run.holder(), result.fireTime(), result.failure()));
		}
	}

}
