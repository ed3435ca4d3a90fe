package io.github.singletonjob;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Published as an application event when a run has its lease, the fence stands at its
 * token, and its body is about to begin. Delivered on the thread of the job: a listener
 * that blocks delays the body.
 *
 * @param job the job's name
 * @param token the token of the run
 * @param holder the instance that executes the run
 * @param fireTime the fire time of the run, or null if it has none
 * @param takeover whether another run has started the fire time and not completed it
 */
public record LeaseGrantedEvent(String job, long token, String holder, @Nullable Instant fireTime, boolean takeover) {
}
