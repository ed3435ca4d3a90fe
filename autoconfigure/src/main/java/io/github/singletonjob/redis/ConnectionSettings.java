package io.github.singletonjob.redis;

import java.time.Duration;

import io.github.singletonjob.lease.UnusableStoreException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes connection factories that lead where the application's does, with the same
 * credentials, TLS and threads, but with connections of their own: what the application
 * does on its connections must not delay a renewal.
 *
 * @param application the application's factory
 */
record ConnectionSettings(LettuceConnectionFactory application) {

	/** One attempt to connect, of which there is one at a time. */
	private static final Duration LONGEST_ATTEMPT = Duration.ofSeconds(5);

	/** Bounds the memory that waits for a Redis that does not answer. */
	private static final int MOST_UNANSWERED = 50_000;

	/** How often a Cluster is asked which node has which slots. */
	private static final Duration REFRESH = Duration.ofSeconds(5);

	static ConnectionSettings of(RedisConnectionFactory factory) {
		if (factory instanceof LettuceConnectionFactory lettuce) {
			return new ConnectionSettings(lettuce);
		}
		throw new UnusableStoreException(
				"The lease store needs a Redis connection of Lettuce, but the bean is a "
						+ factory.getClass().getSimpleName(),
				"Set spring.data.redis.client-type=lettuce with io.lettuce:lettuce-core on the class path, or define a"
						+ " LeaseStore bean: new RedisLeaseStore(lettuceConnectionFactory, keyPrefix)",
				null);
	}

	LeaseConnectionFactory newFactory() {
		return new LeaseConnectionFactory(target(), client());
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
	 * By default the client does not notice who has taken over from a node that hangs.
	 */
	private static ClientOptions followingFailOvers(ClientOptions options) {
		ClusterTopologyRefreshOptions.Builder refresh = ClusterTopologyRefreshOptions.builder()
			.enablePeriodicRefresh(REFRESH);
		if (options instanceof ClusterClientOptions cluster && cluster.getTopologyRefreshOptions() != null) {
			refresh.dynamicRefreshSources(cluster.getTopologyRefreshOptions().useDynamicRefreshSources());
		}
		return ClusterClientOptions.builder(options).topologyRefreshOptions(refresh.build()).build();
	}

}
