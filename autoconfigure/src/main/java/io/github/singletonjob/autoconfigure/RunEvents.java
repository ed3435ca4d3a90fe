package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.LeaseGrantedEvent;
import io.github.singletonjob.LeaseLostEvent;
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
	public void granted(LeasedRun run) {
		this.events.publishEvent(new LeaseGrantedEvent(run.job(), run.token(), run.holder(),
				run.fireTime().orElse(null), run.isTakeover()));
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		this.events.publishEvent(new LeaseLostEvent(run.job(), run.token(), run.holder(), reason));
	}

}
