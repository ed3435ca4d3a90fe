package io.github.singletonjob.fencing;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of a guarded data source.
 *
 * @param idleInTransactionTimeout how long a connection that a run uses may be idle
 * inside a transaction before the database ends it, so that a frozen holder does not keep
 * its rows locked for ever; null for the time to live of the run's lease, zero to leave
 * the connections as they are
 * @param refusesCommonPool whether a thread of the common pool gets a connection only if
 * a run is bound to it. Such threads carry no run by themselves, and what they write for
 * a job, in a parallel stream for example, is not fenced.
 */
public record FencingSettings(@Nullable Duration idleInTransactionTimeout, boolean refusesCommonPool) {

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if the time-out is neither zero nor between a
	 * millisecond and 24 days
	 */
	public FencingSettings {
		if (idleInTransactionTimeout != null && !idleInTransactionTimeout.isZero()
				&& (idleInTransactionTimeout.compareTo(Duration.ofMillis(1)) < 0
						|| idleInTransactionTimeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0)) {
			throw new IllegalArgumentException("The idle-in-transaction time-out " + idleInTransactionTimeout
					+ " is out of range: give it 1 ms to 24 days, or 0 to switch it off");
		}
	}

	/**
	 * Settings with a time-out and all other defaults.
	 * @param idleInTransactionTimeout the time-out
	 * @throws IllegalArgumentException if it is out of range
	 */
	public FencingSettings(@Nullable Duration idleInTransactionTimeout) {
		this(idleInTransactionTimeout, false);
	}

	/**
	 * All defaults.
	 * @return settings that set nothing
	 */
	public static FencingSettings defaults() {
		return new FencingSettings(null);
	}

}
