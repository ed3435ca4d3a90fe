package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The sessions of one store: for each time to live (and call time-out) one that has the
 * leases, and, while that one has leases of several jobs, up to {@value #MOST_WRITERS}
 * that write rows. What a session with leases is asked never waits for a disk, for a
 * synchronous standby or for long, so that nothing holds its renewals up.
 */
final class Sessions {

	private static final Log logger = LogFactory.getLog(Sessions.class);

	private static final int MOST_WRITERS = 3;

	private static final Duration CLOSING_TIME = Duration.ofSeconds(2);

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(2);

	private final ReentrantLock access = new ReentrantLock();

	private final Map<LeaseSession.Times, LeaseSession> holders = new HashMap<>();

	private final Map<LeaseSession.Times, List<LeaseSession>> writers = new HashMap<>();

	private final SessionSource source;

	private final String applicationName;

	private final PostgresCheck check;

	private volatile boolean closed;

	Sessions(SessionSource source, String applicationName, PostgresCheck check) {
		this.source = source;
		this.applicationName = applicationName;
		this.check = check;
	}

	/** The session that has the leases, a new one if the last one is over. */
	LeaseSession holder(LeaseSession.Times times) {
		this.access.lock();
		try {
			requireOpen();
			LeaseSession last = this.holders.get(times);
			if (last != null && !last.isEnded()) {
				return last;
			}
			LeaseSession fresh = start(new LeaseSession(this, false, this.applicationName, times));
			this.holders.put(times, fresh);
			return fresh;
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Any session that has leases or could have, so that a look needs none of its own.
	 * @param times of a new session, if there is none
	 */
	LeaseSession any(LeaseSession.Times times) {
		this.access.lock();
		try {
			for (LeaseSession session : this.holders.values()) {
				if (!session.isEnded()) {
					return session;
				}
			}
			return holder(times);
		}
		finally {
			this.access.unlock();
		}
	}

	/** A session that writes rows: an idle one, a new one, or the least busy. */
	LeaseSession writer(LeaseSession.Times times) {
		this.access.lock();
		try {
			requireOpen();
			List<LeaseSession> open = this.writers.computeIfAbsent(times, (key) -> new ArrayList<>());
			open.removeIf(LeaseSession::isEnded);
			LeaseSession best = null;
			int shortest = Integer.MAX_VALUE;
			for (LeaseSession session : open) {
				int waiting = session.isIdle() ? -1 : session.waiting();
				if (waiting < shortest) {
					best = session;
					shortest = waiting;
				}
			}
			if (best == null || (shortest >= 0 && open.size() < MOST_WRITERS)) {
				best = start(new LeaseSession(this, true, this.applicationName + " rows", times));
				open.add(best);
			}
			return best;
		}
		finally {
			this.access.unlock();
		}
	}

	private void requireOpen() {
		if (this.closed) {
			throw new LeaseStoreException("The Postgres lease store is closed", null);
		}
	}

	boolean isClosed() {
		return this.closed;
	}

	private static LeaseSession start(LeaseSession fresh) {
		try {
			fresh.start();
		}
		catch (OutOfMemoryError ex) {
			throw new LeaseStoreException("No thread could be created for a lease session (" + ex.getMessage()
					+ "). Look at the limits of this process for threads and memory", ex);
		}
		// Entered only now: without its thread it would never end
		return fresh;
	}

	/** Called on the thread of the session. */
	LeaseStatements open(String name, LeaseSession.Times times) {
		this.check.ensurePassed();
		try {
			return LeaseStatements.open(this.source.open(), name, times);
		}
		catch (SQLException ex) {
			throw SqlFailure.opening(ex);
		}
	}

	/** A session has ended by itself. */
	void ended(LeaseSession session) {
		this.access.lock();
		try {
			this.holders.remove(session.times(), session);
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * Ends a backend whose reply did not come, on a connection opened for that.
	 * @return what it was waiting for, as the end of an error message, or an empty text
	 */
	String endBackend(int backend, String name) {
		try {
			Connection connection = this.source.open();
			try (PreparedStatement statement = connection.prepareStatement(LeaseSql.END_BACKEND)) {
				LeaseStatements.limitReply(connection, REPLY_TIMEOUT);
				statement.setInt(1, backend);
				statement.setString(2, name);
				try (ResultSet row = statement.executeQuery()) {
					return row.next() ? SqlFailure.waitingFor(row.getString(1), row.getString(2)) : "";
				}
			}
			finally {
				LeaseStatements.end(connection);
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("What a lease session was waiting for could not be found out", ex);
			return "";
		}
	}

	/** Ends all sessions, and with them their leases. */
	void close() {
		List<LeaseSession> open = stopOpening();
		open.forEach(LeaseSession::end);
		long deadline = LeaseSession.deadlineIn(CLOSING_TIME);
		try {
			for (LeaseSession session : open) {
				session.awaitEnd(TimeUnit.NANOSECONDS.toMillis(LeaseSession.nanosUntil(deadline)));
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
			List<LeaseSession> open = new ArrayList<>(this.holders.values());
			this.writers.values().forEach(open::addAll);
			return open;
		}
		finally {
			this.access.unlock();
		}
	}

}
