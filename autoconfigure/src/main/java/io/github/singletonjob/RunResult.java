package io.github.singletonjob;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What {@link SingletonJobs#run} answers.
 *
 * @param outcome how the attempt ended
 * @param token the token of the run, 0 if it was skipped
 * @param fireTime the fire time of the run, null if it had none or was skipped
 * @param failure null if the run completed or was skipped; what the body threw if it
 * failed; a {@link LeaseLostException} or {@link StaleTokenException} if the run was over
 * before its body ended, with what the body threw as its cause
 */
public record RunResult(RunOutcome outcome, long token, @Nullable Instant fireTime, @Nullable Throwable failure) {
}
