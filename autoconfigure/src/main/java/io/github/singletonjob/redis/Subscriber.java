package io.github.singletonjob.redis;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A connection on which Redis says what was published. The client connects again by
 * itself and subscribes anew. Used by one thread at a time; what is heard comes on the
 * client's threads.
 */
final class Subscriber extends RedisPubSubAdapter<String, String> implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Subscriber.class);

	private final Set<String> asked = ConcurrentHashMap.newKeySet();

	private final Set<String> confirmed = ConcurrentHashMap.newKeySet();

	private final LeaseConnectionFactory factory;

	private final StatefulRedisPubSubConnection<String, String> connection;

	private final Consumer<String> heard;

	private final AtomicBoolean warned = new AtomicBoolean();

	private @Nullable RedisFuture<String> ping;

	private Subscriber(LeaseConnectionFactory factory, Consumer<String> heard) {
		this.factory = factory;
		this.connection = factory.connectPubSub();
		this.heard = heard;
	}

	/**
	 * Connects; blocks until that has worked or not.
	 * @param heard is given each channel on which something was published, or could have
	 * been while there was no connection
	 */
	static Subscriber open(LeaseConnectionFactory factory, Consumer<String> heard) {
		try {
			Subscriber opened = new Subscriber(factory, heard);
			opened.connection.addListener(opened);
			return opened;
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
	}

	/** Once, because it is tried again and again. */
	private void refused(Throwable failure) {
		String message = "Redis does not tell when leases are given back, so stand-bys look by themselves: "
				+ RedisFailure.explain(failure);
		if (RedisFailure.refusal(failure) != null && this.warned.compareAndSet(false, true)) {
			logger.warn(message);
		}
		else {
			logger.debug(message);
		}
	}

	boolean isListeningTo(String channel) {
		return this.confirmed.contains(channel);
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
		this.heard.accept(channel);
	}

	@Override
	public void subscribed(String channel, long count) {
		this.confirmed.add(channel);
		this.heard.accept(channel);
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
