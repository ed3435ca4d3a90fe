package io.github.singletonjob;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event when the body of a run has returned normally while
 * the lease was held. The outcome is recorded, and the lease was given back, unless the
 * job has a {@code minHold} or the store did not answer, which is then told again.
 * Delivered on the thread of the job, or on one of the library if it returns a stage.
 *
 * @param job the job's name
 * @param token the token of the run
 * @param holder the instance that executed the run
 * @param fireTime the fire time of the run, or null if it has none
 */
public record RunCompletedEvent(String job, long token, String holder, @Nullable Instant fireTime) {
}
