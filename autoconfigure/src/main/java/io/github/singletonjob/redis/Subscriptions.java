package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tells those who stand by when a lease was given back. There is a connection for that
 * while somebody listens. A message that is missed is not made up for: a lease that was
 * not given back but has expired is not announced either, so who stands by has to look
 * anyway.
 */
final class Subscriptions implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Subscriptions.class);

	/** How often the connection is looked at. */
	private static final Duration TICK = Duration.ofSeconds(5);

	private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();

	private final ReentrantLock tending = new ReentrantLock();

	private final ConnectionSettings settings;

	private final StoreThreads threads;

	private @Nullable Subscriber subscriber;

	private boolean ticking;

	private boolean failing;

	private volatile boolean closed;

	Subscriptions(ConnectionSettings settings, StoreThreads threads) {
		this.settings = settings;
		this.threads = threads;
	}

	/**
	 * Listens. If Redis does not answer in time, that goes on in the background.
	 * @param time how long that may take
	 */
	LeaseWatch listen(String channel, Runnable freed, CallTime time) {
		if (this.closed) {
			throw new LeaseStoreException("The Redis lease store is closed", null);
		}
		Listener listener = new Listener(channel, freed, new CompletableFuture<>());
		this.listeners.add(listener);
		tendSoon();
		time.await(listener.ready());
		return () -> {
			if (this.listeners.remove(listener)) {
				tendSoon();
			}
		};
	}

	private void tendSoon() {
		this.threads.after(Duration.ZERO, () -> tend(false));
	}

	/** On a thread of the store, one at a time. */
	private void tend(boolean tick) {
		this.tending.lock();
		try {
			this.ticking = this.ticking && !tick;
			if (!this.closed) {
				keepConnected(tick);
			}
			boolean needed = !this.closed && (this.subscriber != null || !this.listeners.isEmpty());
			if (needed && !this.ticking) {
				this.ticking = true;
				this.threads.after(TICK, () -> tend(true));
			}
		}
		finally {
			this.tending.unlock();
		}
	}

	private void keepConnected(boolean tick) {
		boolean unused = tick && this.listeners.isEmpty();
		if (this.subscriber != null && (unused || (tick && !this.subscriber.answers()))) {
			disconnect();
		}
		if (this.subscriber == null && !this.listeners.isEmpty()) {
			connect();
		}
		if (this.subscriber != null) {
			this.subscriber.listenTo(Set.copyOf(this.listeners.stream().map(Listener::channel).toList()));
			this.listeners.forEach(this::settle);
		}
	}

	private void connect() {
		try {
			this.subscriber = Subscriber.open(this.settings.newFactory(), this::heard);
			this.failing = false;
		}
		catch (RuntimeException ex) {
			String message = "Redis cannot be asked to tell when leases are given back, so stand-bys look by themselves: "
					+ RedisFailure.explain(ex);
			if (this.failing || this.closed) {
				logger.debug(message);
			}
			else {
				logger.warn(message);
			}
			this.failing = true;
		}
	}

	private void disconnect() {
		Subscriber last = this.subscriber;
		this.subscriber = null;
		if (last != null) {
			last.close();
		}
	}

	private void settle(Listener listener) {
		if (this.subscriber != null && this.subscriber.isListeningTo(listener.channel())) {
			listener.ready().complete(null);
		}
	}

	private void heard(String channel) {
		for (Listener listener : this.listeners) {
			if (listener.channel().equals(channel)) {
				listener.ready().complete(null);
				listener.freed().run();
			}
		}
	}

	@Override
	public void close() {
		this.closed = true;
		this.tending.lock();
		try {
			disconnect();
		}
		finally {
			this.tending.unlock();
		}
	}

	/**
	 * Somebody who stands by.
	 *
	 * @param channel where the lease is announced
	 * @param freed is told
	 * @param ready is done when Redis has confirmed
	 */
	private record Listener(String channel, Runnable freed, CompletableFuture<@Nullable Void> ready) {
	}

}
