package io.github.singletonjob.contract;

import java.time.Duration;

/**
 * In what the stores differ.
 *
 * @param ttl the time to live that the tests use, one of the shortest that the store can
 * do
 * @param expiresLate how much later than its time to live a lease may end
 * @param callTimeout how long a call may take
 */
public record StoreTraits(Duration ttl, Duration expiresLate, Duration callTimeout) {

}
