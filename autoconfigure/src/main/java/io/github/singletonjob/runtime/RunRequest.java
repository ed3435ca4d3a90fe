package io.github.singletonjob.runtime;

import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import org.jspecify.annotations.Nullable;

/**
 * What is to be run.
 *
 * @param job the job
 * @param settings its settings
 * @param firing the firing of a schedule that asks for it; null for an extra run
 */
public record RunRequest(JobId job, RunSettings settings, @Nullable Firing firing) {
}
