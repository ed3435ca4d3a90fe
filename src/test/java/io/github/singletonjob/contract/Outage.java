package io.github.singletonjob.contract;

import io.github.singletonjob.lease.LeaseStore;

/**
 * A way to the server that can be interrupted.
 */
public interface Outage extends AutoCloseable {

	/**
	 * A store that reaches the server that way only.
	 * @return always the same
	 */
	LeaseStore store();

	/** From now on nothing gets through, without a sign. */
	void cut();

	/** From now on the server gets what is sent, but its replies do not get through. */
	void cutReplies();

	/** Ends what was cut; what was held on the way is delivered. */
	void restore();

	@Override
	void close();

}
