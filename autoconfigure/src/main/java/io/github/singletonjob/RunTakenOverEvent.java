package io.github.singletonjob;

import java.time.Instant;

/**
 * Published as an application event, after the {@link LeaseGrantedEvent} of the same run,
 * when a run takes over a fire time that another run has started and not completed: some
 * of the work may be done already. Delivered on the thread of the job, before its body.
 *
 * @param job the job's name
 * @param token the token of the run that takes over
 * @param holder the instance that takes over
 * @param fireTime the fire time that was open
 */
public record RunTakenOverEvent(String job, long token, String holder, Instant fireTime) {
}
