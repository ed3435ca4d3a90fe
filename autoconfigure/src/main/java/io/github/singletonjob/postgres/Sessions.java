package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The sessions of one store, one for each time to live.
 */
final class Sessions implements SessionOpener {

	private static final Duration CLOSING_TIME = Duration.ofSeconds(2);

	private final ConcurrentMap<Duration, LeaseSession> sessions = new ConcurrentHashMap<>();

	private final SessionSource source;

	private final String applicationName;

	private final PostgresProbe probe;

	private final Claims claims;

	private volatile boolean closed;

	Sessions(SessionSource source, String applicationName, PostgresProbe probe, Claims claims) {
		this.source = source;
		this.applicationName = applicationName;
		this.probe = probe;
		this.claims = claims;
	}

	/**
	 * The session for this time to live, a new one if the last one is over.
	 */
	LeaseSession current(SessionTimes times) {
		return this.sessions.compute(times.ttl(), (ttl, last) -> {
			if (this.closed) {
				throw new LeaseStoreException("The Postgres lease store is closed", null);
			}
			if (last != null && !last.isEnded()) {
				return last;
			}
			LeaseSession fresh = new LeaseSession(this, this.claims, times);
			fresh.start();
			return fresh;
		});
	}

	@Override
	public LeaseConnection open(SessionTimes times) {
		this.probe.ensurePassed();
		try {
			Connection connection = this.source.open();
			return LeaseConnection.open(connection, this.applicationName, times);
		}
		catch (SQLException ex) {
			throw SqlFailure.opening(ex);
		}
	}

	@Override
	public void ended(LeaseSession session) {
		this.sessions.remove(session.times().ttl(), session);
	}

	/** Ends all sessions, and with them their leases. */
	void close() {
		this.closed = true;
		List<LeaseSession> open = List.copyOf(this.sessions.values());
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

}
