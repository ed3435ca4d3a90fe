package io.github.singletonjob;

/**
 * Published as an application event when an attempt to run a job has found nothing to do:
 * another holder has the lease, or the fire time was completed before. Every instance
 * publishes it for each of its firings that another one serves, so it is frequent.
 * Delivered on the thread that made the attempt.
 *
 * @param job the job's name
 * @param outcome why the body was not run: {@link RunOutcome#SKIPPED_HELD} or
 * {@link RunOutcome#SKIPPED_ALREADY_RAN}
 */
public record RunSkippedEvent(String job, RunOutcome outcome) {
}
