package io.github.singletonjob.runtime;

import java.time.Duration;

import io.github.singletonjob.Handover;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import org.jspecify.annotations.Nullable;

/**
 * What is configured for the runs of one job.
 *
 * @param timing the times of the lease
 * @param length how long a run holds the job
 * @param onLost how the body is told that its lease is over
 * @param handover whether the body waits for a holder before it that may still be at work
 * @param onShutdown whether a run is cancelled at once when the application stops, or may
 * finish
 * @param allowsAutocommit whether statements outside of a transaction are executed
 * unfenced
 */
public record RunSettings(LeaseTiming timing, Length length, OnLost onLost, Handover handover, OnShutdown onShutdown,
		boolean allowsAutocommit) {

	/**
	 * Settings of a job that changes hands at once, is held no longer than its body
	 * lasts, and is cancelled at once when the application stops.
	 * @param timing the times of the lease
	 * @param maxRun how long a run may last before it is cancelled; null for no limit
	 * @param onLost how the body is told that its lease is over
	 * @param allowsAutocommit whether statements outside of a transaction are executed
	 * unfenced
	 */
	public RunSettings(LeaseTiming timing, @Nullable Duration maxRun, OnLost onLost, boolean allowsAutocommit) {
		this(timing, new Length(null, maxRun), onLost, Handover.FAST, OnShutdown.CANCEL, allowsAutocommit);
	}

	/**
	 * How long a run holds the job.
	 *
	 * @param minHold at least, from the grant on; null for no longer than the body lasts
	 * @param maxRun how long the body may last before it is cancelled; null for no limit
	 */
	public record Length(@Nullable Duration minHold, @Nullable Duration maxRun) {

		/**
		 * Checks the times.
		 * @throws IllegalArgumentException if one is not positive, or the least is more
		 * than the most
		 */
		public Length {
			requirePositive("max-run", maxRun, "leave it out for a run without a limit");
			requirePositive("min-hold", minHold, "leave it out for a lease that ends with its body");
			if (minHold != null && maxRun != null && minHold.compareTo(maxRun) > 0) {
				throw new IllegalArgumentException("min-hold " + minHold + " is longer than max-run " + maxRun
						+ ": a run would be cancelled before its lease may end");
			}
		}

		private static void requirePositive(String name, @Nullable Duration value, String otherwise) {
			if (value != null && (value.isZero() || value.isNegative())) {
				throw new IllegalArgumentException(name + " " + value + " must be positive; " + otherwise);
			}
		}

	}

}
