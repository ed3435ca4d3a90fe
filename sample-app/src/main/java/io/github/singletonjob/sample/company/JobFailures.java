package io.github.singletonjob.sample.company;

import java.util.Optional;
import java.util.stream.Stream;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What happens to the exceptions of scheduled jobs. A run that is over because another
 * server goes on, or because this one stops, is no failure of the job: a line says so,
 * without a stack trace.
 */
@Configuration(proxyBeanMethods = false)
class JobFailures {

	private static final Logger logger = LoggerFactory.getLogger(JobFailures.class);

	@Bean
	ThreadPoolTaskSchedulerCustomizer jobFailureHandler() {
		return (scheduler) -> scheduler.setErrorHandler(JobFailures::handle);
	}

	private static void handle(Throwable failure) {
		findEndOfRun(failure).ifPresentOrElse((end) -> logger.warn("Stopped. {}", end.getMessage()),
				() -> logger.error("A job has failed. Its next firing tries again", failure));
	}

	/**
	 * Looks into the causes, because transaction managers wrap what happens at a commit.
	 * @param failure what the job threw
	 * @return the exception that ended the run, if it was not the job's own
	 */
	static Optional<Throwable> findEndOfRun(Throwable failure) {
		return Stream.<Throwable>iterate(failure, (cause) -> cause != null, Throwable::getCause)
			.filter((cause) -> cause instanceof LeaseLostException || cause instanceof StaleTokenException)
			.findFirst();
	}

}
