package io.github.singletonjob.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes one connection, which all threads of the store share.
 */
final class LeaseConnectionFactory extends LettuceConnectionFactory {

	LeaseConnectionFactory(RedisConfiguration target, LettuceClientConfiguration client) {
		super(target, client);
		setShareNativeConnection(true);
	}

	/** Blocks until that has worked or not. */
	StatefulConnection<byte[], byte[]> connect() {
		afterPropertiesSet();
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
