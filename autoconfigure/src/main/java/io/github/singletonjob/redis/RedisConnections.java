package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.lease.BackgroundThreads;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.StoreCall;
import io.github.singletonjob.lease.UnusableStoreException;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connections that lead where the application's do, with the same credentials, TLS and
 * threads, but apart from them: what the application does on its connections must not
 * delay a renewal.
 * <p>
 * One is in use. If there is none or it gives no answer, another one is opened, in the
 * background; callers wait for it no longer than their call may take. The old one stays
 * in use until then, because either may be the first that works again.
 */
final class RedisConnections implements AutoCloseable {

	/** From one attempt to the next one at least. */
	private static final Duration PAUSE = Duration.ofMillis(200);

	/** One attempt to connect, of which there is one at a time. */
	private static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(5);

	/** How long what an old connection has under way may still be answered. */
	private static final Duration GRACE = Duration.ofSeconds(1);

	/** Bounds the memory that waits for a Redis that does not answer. */
	private static final int MOST_UNANSWERED = 50_000;

	/** How often a Cluster is asked which node has which slots. */
	private static final Duration REFRESH = Duration.ofSeconds(5);

	private final ReentrantLock access = new ReentrantLock();

	private final LettuceConnectionFactory application;

	private final BackgroundThreads threads;

	private @Nullable Connection current;

	private @Nullable CompletableFuture<Connection> attempt;

	/** When the last one was made, in {@link System#nanoTime()}. */
	private volatile long attempted = System.nanoTime() - PAUSE.toNanos();

	private boolean closed;

	RedisConnections(RedisConnectionFactory application, BackgroundThreads threads) {
		if (!(application instanceof LettuceConnectionFactory lettuce)) {
			throw new UnusableStoreException(
					"The lease store needs a Redis connection of Lettuce, but the bean is a "
							+ application.getClass().getSimpleName(),
					"Set spring.data.redis.client-type=lettuce with io.lettuce:lettuce-core on the class path, or define"
							+ " a LeaseStore bean: new RedisLeaseStore(lettuceConnectionFactory, keyPrefix)",
					null);
		}
		this.application = lettuce;
		this.threads = threads;
	}

	/**
	 * The connection in use, opened if necessary.
	 * @throws LeaseStoreException if there is none in time
	 */
	Connection get(StoreCall call) {
		CompletableFuture<Connection> pending;
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
		if (!call.await(pending)) {
			throw unreachable("no connection in time", null);
		}
		try {
			return pending.join();
		}
		catch (CompletionException ex) {
			throw unreachable(RedisFailure.explain(ex.getCause()), ex.getCause());
		}
	}

	/** The connection in use, or null if there is none or it is interrupted. */
	@Nullable Connection peek() {
		this.access.lock();
		try {
			return (this.current != null && this.current.isOpen()) ? this.current : null;
		}
		finally {
			this.access.unlock();
		}
	}

	private static LeaseStoreException unreachable(String reason, @Nullable Throwable cause) {
		return new LeaseStoreException("Redis cannot be reached: " + reason, cause);
	}

	private CompletableFuture<Connection> pending() {
		if (this.closed) {
			return CompletableFuture.failedFuture(closed());
		}
		if (this.attempt != null && !this.attempt.isDone()) {
			return this.attempt;
		}
		CompletableFuture<Connection> started = new CompletableFuture<>();
		this.attempt = started;
		Duration since = Duration.ofNanos(System.nanoTime() - this.attempted);
		this.threads.after((since.compareTo(PAUSE) < 0) ? PAUSE.minus(since) : Duration.ZERO, () -> connect(started));
		return started;
	}

	private static LeaseStoreException closed() {
		return new LeaseStoreException("The Redis lease store is closed", null);
	}

	private void connect(CompletableFuture<Connection> started) {
		try {
			this.attempted = System.nanoTime();
			Connection opened = new Connection(newFactory());
			adopt(opened);
			started.complete(opened);
		}
		catch (RuntimeException | Error ex) {
			started.completeExceptionally(ex);
		}
	}

	private void adopt(Connection opened) {
		Connection surplus;
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
			this.threads.after(GRACE, surplus::close);
		}
	}

	@Override
	public void close() {
		Connection last;
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

	/** Makes one connection more. Nothing is opened yet. */
	Factory newFactory() {
		return new Factory(target(), client());
	}

	private RedisConfiguration target() {
		if (this.application.getClusterConfiguration() != null) {
			return this.application.getClusterConfiguration();
		}
		if (this.application.getSentinelConfiguration() != null) {
			return this.application.getSentinelConfiguration();
		}
		if (this.application.getSocketConfiguration() != null) {
			return this.application.getSocketConfiguration();
		}
		return this.application.getStandaloneConfiguration();
	}

	private LettuceClientConfiguration client() {
		LettuceClientConfiguration original = this.application.getClientConfiguration();
		LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder();
		if (original.isUseSsl()) {
			LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(original.getVerifyMode());
			if (original.isStartTls()) {
				ssl.startTls();
			}
		}
		original.getClientResources().ifPresent(builder::clientResources);
		original.getClientName().ifPresent(builder::clientName);
		original.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
		return builder.clientOptions(options(original.getClientOptions().orElseGet(ClientOptions::create)))
			.commandTimeout(LONGEST_ATTEMPT)
			.shutdownTimeout(Duration.ofSeconds(2))
			.shutdownQuietPeriod(Duration.ZERO)
			.build();
	}

	private ClientOptions options(ClientOptions original) {
		SocketOptions socket = original.getSocketOptions();
		Duration connect = (socket.getConnectTimeout().compareTo(LONGEST_ATTEMPT) < 0) ? socket.getConnectTimeout()
				: LONGEST_ATTEMPT;
		ClientOptions options = original.mutate()
			.socketOptions(socket.mutate().connectTimeout(connect).build())
			.requestQueueSize(MOST_UNANSWERED)
			.build();
		return this.application.isClusterAware() ? followingFailOvers(options) : options;
	}

	/**
	 * By default the client does not notice which node has taken over from one that
	 * hangs.
	 */
	private static ClientOptions followingFailOvers(ClientOptions options) {
		ClusterTopologyRefreshOptions.Builder refresh = ClusterTopologyRefreshOptions.builder()
			.enablePeriodicRefresh(REFRESH);
		if (options instanceof ClusterClientOptions cluster && cluster.getTopologyRefreshOptions() != null) {
			refresh.dynamicRefreshSources(cluster.getTopologyRefreshOptions().useDynamicRefreshSources());
		}
		return ClusterClientOptions.builder(options).topologyRefreshOptions(refresh.build()).build();
	}

	/**
	 * Spring's factory, for one connection that all threads of the store share.
	 */
	static final class Factory extends LettuceConnectionFactory {

		private Factory(RedisConfiguration target, LettuceClientConfiguration client) {
			super(target, client);
			setShareNativeConnection(true);
		}

		/** Blocks until that has worked or not. */
		private StatefulConnection<byte[], byte[]> connect() {
			StatefulConnection<byte[], byte[]> connection = isClusterAware() ? getSharedClusterConnection()
					: getSharedConnection();
			if (connection == null) {
				throw new IllegalStateException("The connection is shared, but there is none");
			}
			return connection;
		}

		/** The same, for a connection on which Redis publishes. */
		StatefulRedisPubSubConnection<String, String> connectPubSub() {
			afterPropertiesSet();
			AbstractRedisClient client = getRequiredNativeClient();
			return (client instanceof RedisClusterClient cluster) ? cluster.connectPubSub()
					: ((RedisClient) client).connectPubSub();
		}

	}

	/**
	 * A connection, in a Cluster one to each node. Executes scripts, and notices when it
	 * should be replaced.
	 */
	static final class Connection implements AutoCloseable, RedisConnectionStateListener {

		/** So many calls in a row without any answer, and another connection is tried. */
		private static final int DOUBTS = 2;

		private final AtomicInteger unanswered = new AtomicInteger();

		private final AtomicInteger interruptions = new AtomicInteger();

		private final Factory factory;

		private final StatefulConnection<byte[], byte[]> connection;

		/** Connects; blocks until that has worked or not. */
		private Connection(Factory factory) {
			this.factory = factory;
			try {
				factory.afterPropertiesSet();
				factory.getRequiredNativeClient().addListener(this);
				this.connection = factory.connect();
			}
			catch (RuntimeException ex) {
				factory.destroy();
				throw ex;
			}
		}

		@Override
		public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
			this.interruptions.incrementAndGet();
		}

		/** Sends one command; its answer is not waited for. */
		void send(AsyncCommand<byte[], byte[], ?> command) {
			try {
				this.connection.dispatch(command);
			}
			catch (RedisException ex) {
				command.completeExceptionally(ex); // its slot has no node, for example
			}
		}

		/** Executes a script without waiting for the answer. */
		@SuppressWarnings("FutureReturnValueIgnored") // the call is looked at later
		void start(ScriptCall script) {
			send(script.command());
			script.settled(this::send);
		}

		/**
		 * Executes scripts without waiting in between, and keeps the answers in them. In
		 * a Cluster they are sent one by one, so that a node that does not answer delays
		 * its own only.
		 */
		void execute(List<ScriptCall> scripts, StoreCall call) {
			int before = this.interruptions.get();
			if (scripts.size() == 1 || this.connection instanceof StatefulRedisClusterConnection) {
				scripts.forEach((script) -> send(script.command()));
			}
			else {
				this.connection.dispatch(scripts.stream().map(ScriptCall::command).toList());
			}
			call.await(CompletableFuture
				.allOf(scripts.stream().map((each) -> each.settled(this::send)).toArray(CompletableFuture[]::new)));
			boolean interrupted = this.interruptions.get() != before;
			scripts.forEach((each) -> each.end(interrupted));
			if (scripts.stream().anyMatch(ScriptCall::isAnswered)) {
				this.unanswered.set(0);
			}
			else {
				this.unanswered.incrementAndGet();
			}
			if (scripts.stream().anyMatch((each) -> each.failure() instanceof RedisReadOnlyException)) {
				this.unanswered.set(DOUBTS); // not the primary any more
			}
		}

		boolean isOpen() {
			return this.connection.isOpen();
		}

		/** Whether it is worth a try to connect anew. */
		boolean isDoubtful() {
			return !isOpen() || this.unanswered.get() >= DOUBTS;
		}

		@Override
		public void close() {
			this.factory.destroy();
		}

	}

}
