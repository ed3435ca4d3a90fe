package io.github.singletonjob;

import org.jspecify.annotations.Nullable;

/**
 * What {@link SingletonJobs#run} answers.
 *
 * @param outcome how the attempt ended
 * @param token the token of the run, 0 if it was skipped
 * @param failure null if the run completed or was skipped; otherwise what the body threw,
 * or a {@link LeaseLostException} if it returned normally although its run was over
 */
public record RunResult(RunOutcome outcome, long token, @Nullable Throwable failure) {
}
