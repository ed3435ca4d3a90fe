package io.github.singletonjob;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event when the body of a run has thrown by itself while the
 * lease was held, or has ended after its {@code maxRun}. The fire time counts as
 * completed and is not repeated. Delivered on the thread of the job, or on one of the
 * library if it returns a stage. A run that was lost is a {@link LeaseLostEvent} instead;
 * one that was cancelled, because the application stops, is none.
 *
 * @param job the job's name
 * @param token the token of the run
 * @param holder the instance that executed the run
 * @param fireTime the fire time of the run, or null if it has none
 * @param failure what the body threw, or what ended it
 */
public record RunFailedEvent(String job, long token, String holder, @Nullable Instant fireTime,
		@Nullable Throwable failure) {
}
