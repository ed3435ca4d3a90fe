package io.github.singletonjob.runtime;

import java.time.Duration;

import io.github.singletonjob.lease.LeasedRun;

/**
 * A lease that this instance holds and renews, at one moment.
 *
 * @param run the run that it was granted for; its body may have ended
 * @param sinceConfirmed the time since the last confirmed request was sent
 * @param left the time to its deadline if no renewal succeeds, zero if it has passed
 * @param overdue whether a renewal should have been confirmed by now: it is late by more
 * than one call to the store may take
 */
public record HeldLease(LeasedRun run, Duration sinceConfirmed, Duration left, boolean overdue) {

	static HeldLease of(ActiveRun run) {
		LeaseTiming timing = run.settings().timing();
		Duration age = run.deadline().age();
		boolean overdue = age.compareTo(timing.renewEvery().plus(timing.callTimeout())) > 0
				|| !run.deadline().isConfirmed();
		return new HeldLease(run, age, run.deadline().remaining(), overdue);
	}

}
