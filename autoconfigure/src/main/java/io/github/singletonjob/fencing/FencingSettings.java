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
 */
public record FencingSettings(@Nullable Duration idleInTransactionTimeout) {

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
	 * All defaults.
	 * @return settings that set nothing
	 */
	public static FencingSettings defaults() {
		return new FencingSettings(null);
	}

}
