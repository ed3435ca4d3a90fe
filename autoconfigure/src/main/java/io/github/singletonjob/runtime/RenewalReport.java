package io.github.singletonjob.runtime;

import java.time.Duration;

import io.github.singletonjob.lease.Renewal;

/**
 * What came of one attempt to renew a lease.
 *
 * @param answer the store's answer; {@link Renewal#UNKNOWN} also if the call failed
 * @param took how long the call took, on the monotonic clock
 * @param left the time to the lease's deadline when the call was sent, zero if it had
 * passed
 */
public record RenewalReport(Renewal answer, Duration took, Duration left) {
}
