package io.github.singletonjob.runtime;

import java.time.Duration;

import io.github.singletonjob.OnLost;
import org.jspecify.annotations.Nullable;

/**
 * What is configured for the runs of one job.
 *
 * @param timing the times of the lease
 * @param maxRun how long a run may last before it is cancelled; null for no limit
 * @param onLost how the body is told that its lease is over
 * @param allowsAutocommit whether statements outside of a transaction are executed
 * unfenced
 */
public record RunSettings(LeaseTiming timing, @Nullable Duration maxRun, OnLost onLost, boolean allowsAutocommit) {

	/**
	 * Checks the limit.
	 * @throws IllegalArgumentException if it is not positive
	 */
	public RunSettings {
		if (maxRun != null && (maxRun.isZero() || maxRun.isNegative())) {
			throw new IllegalArgumentException(
					"max-run " + maxRun + " must be positive; leave it out for a run without a limit");
		}
	}

}
