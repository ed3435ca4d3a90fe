package io.github.singletonjob.lease;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What a store knows of a job at one moment.
 *
 * @param held whether somebody holds the lease
 * @param holder the instance that holds it, for people, or null if nobody does or the
 * store cannot tell
 * @param token the token that was granted last, 0 if none is known
 * @param expiresIn when the lease ends unless it is renewed, or null if the store cannot
 * tell or nobody holds it
 * @param fireTimes what is known of each schedule
 */
public record LeaseRecord(boolean held, @Nullable String holder, long token, @Nullable Duration expiresIn,
		Map<String, FireTimes> fireTimes) {

	/**
	 * Makes the map immutable.
	 */
	public LeaseRecord {
		fireTimes = Map.copyOf(fireTimes);
	}

}
