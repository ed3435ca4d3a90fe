package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The sessions of one store, one for each time to live; jobs that have the same one but
 * other time-outs have another.
 */
final class Sessions implements SessionOpener {

	private static final Duration CLOSING_TIME = Duration.ofSeconds(2);

	private final ReentrantLock access = new ReentrantLock();

	private final Map<SessionTimes, LeaseSession> sessions = new HashMap<>();

	private final SessionSource source;

	private final String applicationName;

	private final PostgresProbe probe;

	private final Claims claims;

	private boolean closed;

	Sessions(SessionSource source, String applicationName, PostgresProbe probe, Claims claims) {
		this.source = source;
		this.applicationName = applicationName;
		this.probe = probe;
		this.claims = claims;
	}

	/**
	 * The session for these times, a new one if the last one is over.
	 */
	LeaseSession current(SessionTimes times) {
		this.access.lock();
		try {
			if (this.closed) {
				throw new LeaseStoreException("The Postgres lease store is closed", null);
			}
			LeaseSession last = this.sessions.get(times);
			return (last != null && !last.isEnded()) ? last : start(times);
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Any session that is open, so that somebody who only looks needs none of its own.
	 * @param times of a new session, if there is none
	 */
	LeaseSession any(SessionTimes times) {
		this.access.lock();
		try {
			for (LeaseSession session : this.sessions.values()) {
				if (!session.isEnded()) {
					return session;
				}
			}
			return current(times);
		}
		finally {
			this.access.unlock();
		}
	}

	private LeaseSession start(SessionTimes times) {
		LeaseSession fresh = new LeaseSession(this, this.claims, times);
		try {
			fresh.start();
		}
		catch (OutOfMemoryError ex) {
			throw new LeaseStoreException("No thread could be created for a lease session (" + ex.getMessage()
					+ "). Look at the limits of this process for threads and memory", ex);
		}
		// Not before it has its thread, without which it would never end
		this.sessions.put(times, fresh);
		return fresh;
	}

	@Override
	public LeaseConnection open(SessionTimes times) {
		this.probe.ensurePassed();
		try {
			Connection connection = this.source.open();
			return LeaseConnection.open(connection, new SessionSettings(this.applicationName, times));
		}
		catch (SQLException ex) {
			throw SqlFailure.opening(ex);
		}
	}

	@Override
	public void ended(LeaseSession session) {
		this.access.lock();
		try {
			this.sessions.remove(session.times(), session);
		}
		finally {
			this.access.unlock();
		}
	}

	/** Ends all sessions, and with them their leases. */
	void close() {
		List<LeaseSession> open = stopOpening();
		open.forEach(LeaseSession::end);
		long deadline = SessionCall.deadlineIn(CLOSING_TIME);
		try {
			for (LeaseSession session : open) {
				session.awaitEnd(TimeUnit.NANOSECONDS.toMillis(SessionCall.nanosUntil(deadline)));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private List<LeaseSession> stopOpening() {
		this.access.lock();
		try {
			this.closed = true;
			return List.copyOf(this.sessions.values());
		}
		finally {
			this.access.unlock();
		}
	}

}
