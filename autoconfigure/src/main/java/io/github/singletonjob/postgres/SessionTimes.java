package io.github.singletonjob.postgres;

import java.time.Duration;

import io.github.singletonjob.lease.LeaseRequest;

/**
 * How long things may take on a session, for all requests that are made on it.
 *
 * @param ttl how long the server keeps a session that it does not hear of; this is the
 * lease's time to live
 * @param callTimeout how long a caller waits for an answer
 */
record SessionTimes(Duration ttl, Duration callTimeout) {

	static SessionTimes of(LeaseRequest request) {
		return new SessionTimes(request.ttl(), request.callTimeout());
	}

	/**
	 * How long a caller waits for a new session to be open, the first probe included. A
	 * third of the time to live, so that a lease that is granted after it is still good.
	 */
	Duration openingTimeout() {
		Duration third = this.ttl.dividedBy(3);
		return (third.compareTo(this.callTimeout) > 0) ? third : this.callTimeout;
	}

	/**
	 * How long a statement may wait for a row or a table, in milliseconds: a third of the
	 * call, so that a renewal behind it still comes back in time.
	 */
	long lockTimeoutMillis() {
		return Math.max(1, this.callTimeout.toMillis() / 3);
	}

	/**
	 * How long a statement may take, in milliseconds: less than the call, for the same
	 * reason.
	 */
	long statementTimeoutMillis() {
		return Math.max(2, this.callTimeout.toMillis() * 2 / 3);
	}

	/** The time to live in milliseconds, within what the server can take. */
	long ttlMillis() {
		return Math.min(Integer.MAX_VALUE, Math.max(1, this.ttl.toMillis()));
	}

	/**
	 * After how much time without leases and calls a used session is closed, in
	 * milliseconds.
	 */
	long unusedMillis() {
		return Math.max(1, ttlMillis() / 2);
	}

}
