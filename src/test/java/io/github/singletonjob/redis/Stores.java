package io.github.singletonjob.redis;

import io.github.singletonjob.servers.RedisServer;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores as the auto-configuration makes them.
 */
final class Stores {

	static final String PREFIX = "singleton-job:";

	private Stores() {
	}

	static RedisLeaseStore open(RedisServer server) {
		return open(server.port());
	}

	/** Also through a proxy. */
	static RedisLeaseStore open(int port) {
		return new RedisLeaseStore(factory(port), PREFIX);
	}

	static RedisConnectionFactory factory(int port) {
		return new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
	}

}
