package io.github.singletonjob.sample.company;

import io.github.singletonjob.JobRunEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Tells the people on call that a job was interrupted. A real company would page them;
 * this one writes a line.
 */
@Component
class OnCall {

	private static final Logger logger = LoggerFactory.getLogger(OnCall.class);

	@EventListener
	void leaseLost(JobRunEvent.Lost event) {
		logger.warn("{}: paging the people on call: token {} is over ({})", event.job(), event.token(), event.reason());
	}

}
