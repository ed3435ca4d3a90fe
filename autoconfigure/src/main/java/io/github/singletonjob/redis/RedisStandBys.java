package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.BackgroundThreads;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.StoreCall;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The stand-bys of this instance, which are woken when a lease is given back. There is a
 * connection for that while there are any. A message that is missed is not repeated: a
 * lease that expires is not announced either, so a stand-by has to look anyway.
 */
final class RedisStandBys implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisStandBys.class);

	/** How often the connection is looked at. */
	private static final Duration TICK = Duration.ofSeconds(5);

	private final Set<StandBy> standBys = ConcurrentHashMap.newKeySet();

	private final ReentrantLock tending = new ReentrantLock();

	private final AtomicBoolean refused = new AtomicBoolean();

	private final RedisConnections connections;

	private final BackgroundThreads threads;

	private @Nullable Subscriber subscriber;

	private boolean ticking;

	private boolean failing;

	private volatile boolean closed;

	RedisStandBys(RedisConnections connections, BackgroundThreads threads) {
		this.connections = connections;
		this.threads = threads;
	}

	/**
	 * Listens. If Redis does not answer in time, that goes on in the background.
	 * @param call how long that may take
	 */
	LeaseWatch add(String channel, Runnable freed, StoreCall call) {
		if (this.closed) {
			throw new LeaseStoreException("The Redis lease store is closed", null);
		}
		StandBy standBy = new StandBy(channel, freed, new CompletableFuture<>());
		this.standBys.add(standBy);
		this.threads.execute(() -> tend(false));
		call.await(standBy.listening());
		return () -> {
			if (this.standBys.remove(standBy)) {
				this.threads.execute(() -> tend(false));
			}
		};
	}

	/** On a thread of the store, one at a time. */
	private void tend(boolean tick) {
		this.tending.lock();
		try {
			this.ticking = this.ticking && !tick;
			if (!this.closed) {
				keepConnected(tick);
			}
			boolean needed = !this.closed && (this.subscriber != null || !this.standBys.isEmpty());
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
		boolean unused = tick && this.standBys.isEmpty();
		if (this.subscriber != null && (unused || (tick && !this.subscriber.answers()))) {
			disconnect();
		}
		if (this.subscriber == null && !this.standBys.isEmpty()) {
			connect();
		}
		if (this.subscriber != null) {
			this.subscriber.listenTo(this.standBys.stream().map(StandBy::channel).collect(Collectors.toSet()));
		}
	}

	private void connect() {
		try {
			this.subscriber = new Subscriber(this.connections.newFactory());
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
			last.factory.destroy();
		}
	}

	/**
	 * Something was published there, or could have been while there was no connection.
	 */
	private void heard(String channel) {
		for (StandBy standBy : this.standBys) {
			if (standBy.channel().equals(channel)) {
				standBy.listening().complete(null);
				standBy.freed().run();
			}
		}
	}

	/** Warns once, because it is tried again and again. */
	private void refused(Throwable failure) {
		String message = "Redis does not tell when leases are given back, so stand-bys look by themselves: "
				+ RedisFailure.explain(failure);
		if (RedisFailure.refusal(failure) != null && this.refused.compareAndSet(false, true)) {
			logger.warn(message);
		}
		else {
			logger.debug(message);
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
	 * A stand-by.
	 *
	 * @param channel where the lease is announced
	 * @param freed is told
	 * @param listening is done when Redis has confirmed
	 */
	private record StandBy(String channel, Runnable freed, CompletableFuture<@Nullable Void> listening) {
	}

	/**
	 * A connection on which Redis says what was published. The client connects again by
	 * itself and subscribes anew. Used by one thread at a time; what is heard comes on
	 * the client's threads.
	 */
	private final class Subscriber extends RedisPubSubAdapter<String, String> {

		private final Set<String> asked = ConcurrentHashMap.newKeySet();

		private final Set<String> confirmed = ConcurrentHashMap.newKeySet();

		private final RedisConnections.Factory factory;

		private final StatefulRedisPubSubConnection<String, String> connection;

		private @Nullable RedisFuture<String> ping;

		/** Connects; blocks until that has worked or not. */
		Subscriber(RedisConnections.Factory factory) {
			this.factory = factory;
			try {
				this.connection = factory.connectPubSub();
				this.connection.addListener(this);
			}
			catch (RuntimeException ex) {
				factory.destroy();
				throw ex;
			}
		}

		/** Subscribes to these channels and no others; does not wait. */
		void listenTo(Set<String> channels) {
			Set<String> more = new HashSet<>(channels);
			more.removeAll(this.asked);
			Set<String> less = new HashSet<>(this.asked);
			less.removeAll(channels);
			if (!more.isEmpty()) {
				this.asked.addAll(more);
				this.connection.async().subscribe(more.toArray(String[]::new)).whenComplete((done, failure) -> {
					if (failure != null) {
						this.asked.removeAll(more);
						refused(failure);
					}
				});
			}
			if (!less.isEmpty()) {
				this.asked.removeAll(less);
				this.confirmed.removeAll(less);
				this.connection.async().unsubscribe(less.toArray(String[]::new)).whenComplete((done, failure) -> {
					if (failure != null) {
						refused(failure);
					}
				});
			}
			RedisStandBys.this.standBys.stream()
				.filter((each) -> this.confirmed.contains(each.channel()))
				.forEach((each) -> each.listening().complete(null));
		}

		/** Whether the last question had any answer; asks the next one. */
		boolean answers() {
			boolean answered = this.ping == null || this.ping.isDone();
			if (answered) {
				this.ping = this.connection.async().ping();
			}
			return answered;
		}

		@Override
		public void message(String channel, String message) {
			heard(channel);
		}

		@Override
		public void subscribed(String channel, long count) {
			this.confirmed.add(channel);
			heard(channel);
		}

	}

}
