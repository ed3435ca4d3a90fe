package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import org.jspecify.annotations.Nullable;

/**
 * Who stands by on this instance. All of them share one connection and one thread, which
 * are there only while somebody does, and a moment longer.
 */
final class LeaseWatches {

	private static final Duration CLOSING_TIME = Duration.ofSeconds(1);

	private final Set<Watched> watched = ConcurrentHashMap.newKeySet();

	private final ReentrantLock access = new ReentrantLock();

	private final SessionSource source;

	private final String applicationName;

	private @Nullable WatchLoop loop;

	private boolean closed;

	LeaseWatches(SessionSource source, String applicationName) {
		this.source = source;
		this.applicationName = applicationName;
	}

	LeaseWatch add(JobId job, Runnable freed) {
		Watched watch = new Watched(LockKey.of(job), freed);
		this.access.lock();
		try {
			if (this.closed) {
				throw new LeaseStoreException("The Postgres lease store is closed", null);
			}
			if (this.loop == null) {
				this.loop = start();
			}
			this.watched.add(watch);
		}
		finally {
			this.access.unlock();
		}
		return () -> this.watched.remove(watch);
	}

	private WatchLoop start() {
		WatchLoop fresh = new WatchLoop(this, this.source, this.applicationName);
		try {
			fresh.start();
			return fresh;
		}
		catch (OutOfMemoryError ex) {
			throw new LeaseStoreException("No thread could be created to watch leases (" + ex.getMessage()
					+ "). Look at the limits of this process for threads and memory", ex);
		}
	}

	Collection<Watched> all() {
		return this.watched;
	}

	boolean contains(Watched watch) {
		return this.watched.contains(watch);
	}

	boolean isEmpty() {
		return this.watched.isEmpty();
	}

	/**
	 * Lets the loop end if nobody stands by.
	 * @return whether it has to
	 */
	boolean endIfUnused() {
		this.access.lock();
		try {
			if (this.closed || this.watched.isEmpty()) {
				this.loop = null;
				return true;
			}
			return false;
		}
		finally {
			this.access.unlock();
		}
	}

	/** The loop has ended in a way that nobody foresaw: the next watch starts another. */
	void failed(WatchLoop failed) {
		this.access.lock();
		try {
			if (this.loop == failed) {
				this.loop = null;
			}
		}
		finally {
			this.access.unlock();
		}
	}

	void close() {
		WatchLoop last = stop();
		if (last != null) {
			last.end(CLOSING_TIME);
		}
	}

	private @Nullable WatchLoop stop() {
		this.access.lock();
		try {
			this.closed = true;
			this.watched.clear();
			return this.loop;
		}
		finally {
			this.access.unlock();
		}
	}

}
