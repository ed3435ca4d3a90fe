package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The connection that is in use and, if there is none or it gives no answer, the attempt
 * to open another one. Callers wait for it no longer than their call may take. The old
 * one stays in use until there is a new one: either may be the first that works again.
 */
final class LeaseConnections implements AutoCloseable {

	/** From one attempt to the next one at least. */
	private static final Duration PAUSE = Duration.ofMillis(200);

	private final ConnectionSettings settings;

	private final StoreThreads threads;

	private final ReentrantLock access = new ReentrantLock();

	private @Nullable LeaseConnection current;

	private @Nullable CompletableFuture<LeaseConnection> attempt;

	/** When the last one was made, in {@link System#nanoTime()}. */
	private volatile long attempted = System.nanoTime() - PAUSE.toNanos();

	private boolean closed;

	LeaseConnections(ConnectionSettings settings, StoreThreads threads) {
		this.settings = settings;
		this.threads = threads;
	}

	/**
	 * The connection in use, opened if necessary.
	 * @throws LeaseStoreException if there is none in time
	 */
	LeaseConnection get(CallTime time) {
		CompletableFuture<LeaseConnection> pending;
		this.access.lock();
		try {
			if (this.current != null && !this.current.isDoubtful()) {
				return this.current;
			}
			pending = pending();
			if (this.current != null && this.current.isOpen()) {
				return this.current;
			}
		}
		finally {
			this.access.unlock();
		}
		if (!time.await(pending)) {
			return unavailable(null);
		}
		try {
			return pending.join();
		}
		catch (CompletionException ex) {
			return unavailable(ex.getCause());
		}
	}

	/** The connection in use, or null if there is none or it is interrupted. */
	@Nullable LeaseConnection peek() {
		this.access.lock();
		try {
			return (this.current != null && this.current.isOpen()) ? this.current : null;
		}
		finally {
			this.access.unlock();
		}
	}

	private static LeaseConnection unavailable(@Nullable Throwable cause) {
		String reason = (cause != null) ? RedisFailure.explain(cause) : "no connection in time";
		throw new LeaseStoreException("Redis cannot be reached: " + reason, cause);
	}

	private CompletableFuture<LeaseConnection> pending() {
		if (this.closed) {
			return CompletableFuture.failedFuture(closed());
		}
		if (this.attempt != null && !this.attempt.isDone()) {
			return this.attempt;
		}
		CompletableFuture<LeaseConnection> started = new CompletableFuture<>();
		this.attempt = started;
		this.threads.after(pause(), () -> connect(started));
		return started;
	}

	private Duration pause() {
		Duration since = Duration.ofNanos(System.nanoTime() - this.attempted);
		return (since.compareTo(PAUSE) < 0) ? PAUSE.minus(since) : Duration.ZERO;
	}

	private static LeaseStoreException closed() {
		return new LeaseStoreException("The Redis lease store is closed", null);
	}

	private void connect(CompletableFuture<LeaseConnection> started) {
		try {
			this.attempted = System.nanoTime();
			LeaseConnection opened = LeaseConnection.open(this.settings.newFactory());
			adopt(opened);
			started.complete(opened);
		}
		catch (RuntimeException | Error ex) {
			started.completeExceptionally(ex);
		}
	}

	private void adopt(LeaseConnection opened) {
		LeaseConnection surplus;
		this.access.lock();
		try {
			surplus = this.closed ? opened : this.current;
			this.current = this.closed ? null : opened;
		}
		finally {
			this.access.unlock();
		}
		if (surplus == opened) {
			opened.close();
			throw closed();
		}
		if (surplus != null) {
			this.threads.closeLater(surplus);
		}
	}

	@Override
	public void close() {
		LeaseConnection last;
		this.access.lock();
		try {
			this.closed = true;
			last = this.current;
			this.current = null;
		}
		finally {
			this.access.unlock();
		}
		if (last != null) {
			last.close();
		}
	}

}
