package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.servers.RedisServer;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores as the auto-configuration makes them, and requests to them.
 */
final class Stores {

	static final String PREFIX = "singleton-job:";

	static final StoreTraits TRAITS = new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1),
			Duration.ofSeconds(2));

	/** Longer than a test takes. */
	static final Duration LONG_TTL = Duration.ofMinutes(5);

	private Stores() {
	}

	static RedisLeaseStore open(RedisServer server) {
		return open(server.port());
	}

	/** Also through a proxy. */
	static RedisLeaseStore open(int port) {
		return open(new RedisStandaloneConfiguration("127.0.0.1", port));
	}

	static RedisLeaseStore open(RedisStandaloneConfiguration target) {
		return new RedisLeaseStore(new LettuceConnectionFactory(target), PREFIX);
	}

	static JobId job(String name) {
		return new JobId("shop", name);
	}

	static LeaseRequest request(JobId job, Duration callTimeout) {
		return new LeaseRequest(job, UUID.randomUUID().toString(), "somebody", LONG_TTL, callTimeout, 0);
	}

	static LeaseGrant acquire(LeaseStore store, JobId job) {
		return acquire(store, job, Duration.ofSeconds(5));
	}

	/** Asks until the lease is granted, with a new owner each time. */
	static LeaseGrant acquire(LeaseStore store, JobId job, Duration callTimeout) {
		return Instances.awaitGrant(() -> store.tryAcquire(request(job, callTimeout)));
	}

	static boolean isHeld(LeaseStore store, JobId job) {
		return store.tryAcquire(request(job, Duration.ofSeconds(5))) instanceof Acquisition.Held;
	}

	static String leaseKey(JobId job) {
		return RedisJob.of(PREFIX, job).lease();
	}

	static String tokenKey(JobId job) {
		return RedisJob.of(PREFIX, job).token();
	}

	static String recordKey(JobId job) {
		return RedisJob.of(PREFIX, job).record();
	}

	static List<String> keys(RedisServer server) {
		return server.ask((commands) -> commands.keys("*"));
	}

}
