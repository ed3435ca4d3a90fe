package io.github.singletonjob.lease;

import org.jspecify.annotations.Nullable;

/**
 * A store's definite answer to a {@link LeaseRequest}.
 */
public sealed interface Acquisition {

	/**
	 * The lease is the caller's, for the requested time to live from the moment that the
	 * request was sent.
	 *
	 * @param grant the lease
	 */
	record Acquired(LeaseGrant grant) implements Acquisition {
	}

	/**
	 * Another holder has the lease. Nothing was written.
	 *
	 * @param holder the instance that has it, for people, or null if the store cannot
	 * tell
	 */
	record Held(@Nullable String holder) implements Acquisition {
	}

}
