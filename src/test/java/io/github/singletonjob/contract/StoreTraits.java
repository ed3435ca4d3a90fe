package io.github.singletonjob.contract;

import java.time.Duration;

/**
 * In what the stores differ.
 *
 * @param ttl the time to live that the tests use, one of the shortest that the store can
 * do
 * @param expiresLate how much later than its time to live a lease may end
 * @param callTimeout how long a call may take
 * @param hasClock whether the store has a clock by which it can refuse a fire time
 */
public record StoreTraits(Duration ttl, Duration expiresLate, Duration callTimeout, boolean hasClock) {

	/**
	 * The traits of a store that has a clock.
	 * @param ttl the time to live
	 * @param expiresLate how much later a lease may end
	 * @param callTimeout how long a call may take
	 */
	public StoreTraits(Duration ttl, Duration expiresLate, Duration callTimeout) {
		this(ttl, expiresLate, callTimeout, true);
	}

}
