package io.github.singletonjob.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.StoreCall;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.redis.RedisConnections.Connection;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether leases can be kept in a Redis: its version, that it can be written
 * to, and that the user may execute what the scripts do. It tries that on a key of its
 * own, which it deletes again.
 */
final class RedisCheck {

	private static final Log logger = LogFactory.getLog(RedisCheck.class);

	private static final String COMMANDS = "+evalsha +eval +get +set +incr +pexpire +pttl +del +time +hset +hget"
			+ " +hmget +hgetall +publish +subscribe +unsubscribe";

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

	private final RedisConnections connections;

	private final String keyPrefix;

	RedisCheck(RedisConnections connections, String keyPrefix) {
		this.connections = connections;
		this.keyPrefix = keyPrefix;
	}

	void run() {
		StoreCall call = StoreCall.interruptible("Asking Redis whether it can keep leases", REPLY_TIMEOUT);
		try {
			Connection connection = this.connections.get(call);
			checkServer(info(connection, call));
			checkScripts(connection, call);
		}
		catch (UnusableStoreException ex) {
			throw ex;
		}
		catch (LeaseStoreException ex) {
			throw refused(ex);
		}
	}

	/** Not every user may ask for it. */
	private static Map<String, String> info(Connection connection, StoreCall call) {
		AsyncCommand<byte[], byte[], byte[]> info = new AsyncCommand<>(
				new Command<>(CommandType.INFO, new ValueOutput<>(ByteArrayCodec.INSTANCE)));
		connection.send(info);
		if (!call.await(info)) {
			info.cancel(false);
			throw call.unknown("no answer in time", null);
		}
		try {
			String text = new String(info.join(), StandardCharsets.UTF_8);
			return text.lines()
				.filter((line) -> line.indexOf(':') > 0)
				.collect(Collectors.toMap((line) -> line.substring(0, line.indexOf(':')),
						(line) -> line.substring(line.indexOf(':') + 1), (first, second) -> first));
		}
		catch (CompletionException ex) {
			logger.debug("Redis does not tell about itself: " + RedisFailure.explain(ex));
			return Map.of();
		}
	}

	private static void checkServer(Map<String, String> info) {
		String version = info.get("redis_version");
		if (version != null && !isRecent(version)) {
			throw new UnusableStoreException("The lease store needs Redis 6.2 or newer; this is " + version,
					"Upgrade the server, or choose another singleton-job.store", null);
		}
		if ("slave".equals(info.get("role")) && !"1".equals(info.get("cluster_enabled"))) {
			throw replica(null);
		}
		String policy = info.getOrDefault("maxmemory_policy", "noeviction");
		if (!"noeviction".equals(policy) && !"0".equals(info.get("maxmemory"))) {
			logger.warn("Redis may evict leases when its memory is full (maxmemory-policy " + policy
					+ "): a second holder could then begin too early. Keep leases in a Redis with noeviction");
		}
	}

	private static boolean isRecent(String version) {
		String[] parts = version.split("\\D+", -1);
		int major = Integer.parseInt(parts[0]);
		return major > 6 || (major == 6 && parts.length > 1 && Integer.parseInt(parts[1]) >= 2);
	}

	private void checkScripts(Connection connection, StoreCall call) {
		ScriptCall probe = RedisJob.of(this.keyPrefix, new JobId("probe", UUID.randomUUID().toString())).probe();
		connection.execute(List.of(probe), call);
		if (!probe.verdict().equals("works")) {
			throw RedisFailure.unknown(call, probe.failure());
		}
	}

	/** Recognizes the errors that stay until something is changed. */
	private LeaseStoreException refused(LeaseStoreException failure) {
		RedisCommandExecutionException refusal = RedisFailure.refusal(failure);
		String message = (refusal != null) ? String.valueOf(refusal.getMessage()) : "";
		if (message.startsWith("READONLY")) {
			return replica(failure);
		}
		if (message.startsWith("NOAUTH") || message.startsWith("WRONGPASS") || message.startsWith("ERR AUTH")) {
			return new UnusableStoreException("Redis refuses the credentials of the lease store (" + message + ")",
					"Set spring.data.redis.username and spring.data.redis.password", failure);
		}
		if (message.startsWith("NOPERM") || message.contains("ACL failure")
				|| message.contains("user executing the script")) {
			return new UnusableStoreException("The Redis user of the lease store lacks a right (" + message + ")",
					"Let an administrator execute: ACL SETUSER <user> ~" + this.keyPrefix + "* resetchannels &"
							+ this.keyPrefix + "* " + COMMANDS,
					failure);
		}
		if (message.startsWith("MOVED") || message.startsWith("CROSSSLOT")) {
			return new UnusableStoreException(
					"The server of the lease store is a node of a Redis Cluster (" + message + ")",
					"Set spring.data.redis.cluster.nodes instead of spring.data.redis.host", failure);
		}
		if (message.contains("unknown command")) {
			return new UnusableStoreException("This Redis does not execute scripts (" + message + ")",
					"Allow EVAL and EVALSHA, or choose another singleton-job.store", failure);
		}
		return failure;
	}

	private static UnusableStoreException replica(@Nullable Throwable cause) {
		return new UnusableStoreException("The server of the lease store is a replica, which cannot be written to",
				"Connect to the primary, best by spring.data.redis.sentinel or spring.data.redis.cluster", cause);
	}

}
