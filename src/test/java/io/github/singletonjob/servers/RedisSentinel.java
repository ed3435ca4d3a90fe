package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;

/**
 * A real Redis Sentinel on a loopback port, which watches a primary alone: it promotes a
 * replica about two seconds after the primary has gone silent.
 */
public final class RedisSentinel implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final String CONFIGURATION = """
			port %1$d
			bind 127.0.0.1
			sentinel monitor %2$s 127.0.0.1 %3$d 1
			sentinel down-after-milliseconds %2$s 1000
			sentinel failover-timeout %2$s 6000
			""";

	private final int port = Ports.free();

	private final String name;

	private final OwnedProcess process;

	private final RedisClient client;

	private RedisSentinel(String name, RedisServer primary) {
		this.name = name;
		Path directory = Workspace.newPath("sentinel");
		Path log = Path.of(directory + ".log");
		Path configuration = directory.resolve("sentinel.conf");
		try {
			Files.createDirectories(directory);
			Files.writeString(configuration, CONFIGURATION.formatted(this.port, name, primary.port()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.process = OwnedProcess.start(
				List.of(RedisProgram.path(), configuration.toString(), "--sentinel", "--dir", directory.toString()),
				"KILL", (builder) -> builder.redirectOutput(log.toFile()));
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", this.port));
	}

	/**
	 * Starts a Sentinel and returns when it knows the replicas of the primary.
	 * @param name how it calls the primary and its successors
	 * @param primary the one that is watched
	 * @param replicas how many replicas it has
	 * @return the Sentinel
	 */
	public static RedisSentinel watching(String name, RedisServer primary, int replicas) {
		RedisSentinel sentinel = new RedisSentinel(name, primary);
		try {
			Waits.until("a Sentinel that knows the replicas", TIMEOUT, () -> sentinel.knownReplicas() == replicas);
			return sentinel;
		}
		catch (RuntimeException ex) {
			sentinel.close();
			throw ex;
		}
	}

	private int knownReplicas() {
		if (!this.process.isAlive()) {
			throw new IllegalStateException("No Sentinel runs on port " + this.port);
		}
		try (StatefulRedisSentinelConnection<String, String> connection = this.client.connectSentinel()) {
			return connection.sync().replicas(this.name).size();
		}
		catch (RedisException ex) {
			return 0;
		}
	}

	public int port() {
		return this.port;
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, TIMEOUT);
		this.process.close();
	}

}
