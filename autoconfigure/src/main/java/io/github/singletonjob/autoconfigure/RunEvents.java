package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.LeaseGrantedEvent;
import io.github.singletonjob.LeaseLostEvent;
import io.github.singletonjob.RunCompletedEvent;
import io.github.singletonjob.RunFailedEvent;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.RunSkippedEvent;
import io.github.singletonjob.RunTakenOverEvent;
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
		this.events.publishEvent(new RunSkippedEvent(job.name(), outcome));
	}

	@Override
	public void granted(LeasedRun run) {
		this.events.publishEvent(new LeaseGrantedEvent(run.job(), run.token(), run.holder(),
				run.fireTime().orElse(null), run.isTakeover()));
		if (run.isTakeover()) {
			this.events.publishEvent(
					new RunTakenOverEvent(run.job(), run.token(), run.holder(), run.fireTime().orElseThrow()));
		}
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		this.events.publishEvent(new LeaseLostEvent(run.job(), run.token(), run.holder(), reason));
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		if (result.outcome() == RunOutcome.COMPLETED) {
			this.events.publishEvent(new RunCompletedEvent(run.job(), run.token(), run.holder(), result.fireTime()));
		}
		else if (result.outcome() == RunOutcome.FAILED) {
			this.events.publishEvent(
					new RunFailedEvent(run.job(), run.token(), run.holder(), result.fireTime(), result.failure()));
		}
	}

}
