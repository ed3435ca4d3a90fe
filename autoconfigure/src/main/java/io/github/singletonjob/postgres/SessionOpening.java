package io.github.singletonjob.postgres;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The opening of a session, for which callers wait apart from the call itself: it takes
 * several round trips, and the first probe some more.
 */
final class SessionOpening {

	private final CountDownLatch over = new CountDownLatch(1);

	/** The session is open, or will not be. */
	void done() {
		this.over.countDown();
	}

	/**
	 * Waits until the session is open or has ended.
	 * @param purpose what for, as the beginning of an error message
	 * @param deadline until when, in {@link System#nanoTime()}
	 * @throws LeaseStoreException if it takes too long or the thread is interrupted
	 */
	void await(String purpose, long deadline) {
		try {
			if (!this.over.await(SessionCall.nanosUntil(deadline), TimeUnit.NANOSECONDS)) {
				throw new LeaseStoreException(
						purpose + " failed: no session was open in time. If that repeats,"
								+ " Postgres does not answer, or connections to it take longer than a third of the ttl",
						null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LeaseStoreException(purpose + " failed: the thread was interrupted before a session was open",
					ex);
		}
	}

}
