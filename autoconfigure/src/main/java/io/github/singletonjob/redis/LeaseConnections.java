package io.github.singletonjob.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The connection that is in use and, if there is none or it gives no answer, the attempt
 * to open another one. Callers wait for it no longer than their call may take. The old
 * one stays in use until there is a new one: either may be the first that works again.
 */
final class LeaseConnections implements AutoCloseable {

	private final ConnectionSettings settings;

	private final StoreThreads threads;

	private final ReentrantLock access = new ReentrantLock();

	private @Nullable LeaseConnection current;

	private @Nullable CompletableFuture<LeaseConnection> attempt;

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
		LeaseConnection usable;
		CompletableFuture<LeaseConnection> pending;
		this.access.lock();
		try {
			usable = (this.current != null && this.current.isOpen()) ? this.current : null;
			pending = (usable == null || usable.isDoubtful()) ? pending() : null;
		}
		finally {
			this.access.unlock();
		}
		if (usable != null || pending == null) {
			return (usable != null) ? usable : unavailable(null);
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
		if (this.attempt != null && !this.attempt.isDone()) {
			return this.attempt;
		}
		CompletableFuture<LeaseConnection> started = new CompletableFuture<>();
		this.attempt = started;
		try {
			this.threads.execute(() -> connect(started));
		}
		catch (RejectedExecutionException ex) {
			started.completeExceptionally(new LeaseStoreException("The Redis lease store is closed", ex));
		}
		return started;
	}

	private void connect(CompletableFuture<LeaseConnection> started) {
		try {
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
			throw new LeaseStoreException("The Redis lease store is closed", null);
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
