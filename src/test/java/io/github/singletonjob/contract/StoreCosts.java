package io.github.singletonjob.contract;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.etcd.EtcdConnection;
import io.github.singletonjob.etcd.EtcdEndpoints;
import io.github.singletonjob.etcd.EtcdLeaseStore;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.postgres.PostgresLeaseStore;
import io.github.singletonjob.postgres.PostgresSchema;
import io.github.singletonjob.postgres.SessionSource;
import io.github.singletonjob.redis.RedisLeaseStore;
import io.github.singletonjob.servers.EtcdServer;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code ./verify bench} prints of the stores, and of ShedLock on the same servers:
 * how long it takes to take a lease and to give it back, to be refused because somebody
 * else has it, and to renew. Every answer is checked. Postgres waits for its disk, etcd
 * does not.
 */
@Timeout(600)
class StoreCosts {

	private static final int ROUNDS = Integer.getInteger("tests.rounds", 2_000);

	private static final Duration TTL = Duration.ofMinutes(5);

	private static final JobId JOB = new JobId("shop", "billing");

	@Test
	void ofPostgres() {
		try (PostgresServer server = PostgresServer.create().start(); HikariDataSource pool = new HikariDataSource()) {
			String url = server.newDatabase();
			SessionSource source = () -> PostgresServer.connect(url);
			new PostgresSchema(source).initialize();
			try (PostgresLeaseStore own = new PostgresLeaseStore(source, "own");
					PostgresLeaseStore other = new PostgresLeaseStore(source, "other")) {
				measure("postgres", own, other);
			}
			pool.setJdbcUrl(url);
			pool.setUsername(PostgresServer.USERNAME);
			measure("ShedLock on Postgres", shedLock(new JdbcTemplate(pool)));
		}
	}

	private static LockProvider shedLock(JdbcTemplate jdbc) {
		jdbc.execute("create table shedlock (name varchar(64) primary key, lock_until timestamp not null,"
				+ " locked_at timestamp not null, locked_by varchar(255) not null)");
		return new JdbcTemplateLockProvider(
				JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(jdbc).usingDbTime().build());
	}

	@Test
	void ofRedis() {
		try (RedisServer server = RedisServer.create().start()) {
			LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
			try (RedisLeaseStore own = new RedisLeaseStore(connections, "bench:");
					RedisLeaseStore other = new RedisLeaseStore(connections, "bench:")) {
				measure("redis", own, other);
			}
			connections.afterPropertiesSet();
			connections.start();
			measure("ShedLock on Redis", new RedisLockProvider(connections, "bench"));
			connections.destroy();
		}
	}

	@Test
	void ofEtcd() {
		try (EtcdServer server = EtcdServer.create().start();
				EtcdLeaseStore own = etcd(server);
				EtcdLeaseStore other = etcd(server)) {
			measure("etcd", own, other);
		}
	}

	private static EtcdLeaseStore etcd(EtcdServer server) {
		EtcdEndpoints endpoints = new EtcdEndpoints(List.of(server.endpoint()), null, null, null);
		EtcdLeaseStore store = new EtcdLeaseStore(EtcdConnection.to(endpoints), "bench/");
		store.probe("shop");
		return store;
	}

	private static void measure(String name, LeaseStore own, LeaseStore other) {
		long taken = median(() -> require(own.release(acquire(own))));
		LeaseGrant grant = acquire(own);
		long refused = median(() -> require(other.tryAcquire(request()) instanceof Acquisition.Held));
		long renewed = median(() -> require(own.renew(List.of(grant)).get(0) == Renewal.EXTENDED));
		own.release(grant);
		print(name, taken, refused, renewed);
		assertThat(refused).as("refused").isLessThan(taken);
	}

	private static LeaseGrant acquire(LeaseStore store) {
		Acquisition answer = store.tryAcquire(request());
		require(answer instanceof Acquisition.Acquired);
		return ((Acquisition.Acquired) answer).grant();
	}

	private static LeaseRequest request() {
		return new LeaseRequest(JOB, UUID.randomUUID().toString(), "bench", TTL, Duration.ofSeconds(5), 0);
	}

	private static void measure(String name, LockProvider provider) {
		long taken = median(() -> provider.lock(lock()).orElseThrow().unlock());
		SimpleLock[] held = { provider.lock(lock()).orElseThrow() };
		long refused = median(() -> require(provider.lock(lock()).isEmpty()));
		long extended = median(() -> held[0] = held[0].extend(TTL, Duration.ZERO).orElseThrow());
		held[0].unlock();
		print(name, taken, refused, extended);
	}

	private static LockConfiguration lock() {
		return new LockConfiguration(Instant.now(), "billing", TTL, Duration.ZERO);
	}

	private static void print(String name, long taken, long refused, long renewed) {
		System.out.printf("Lease, medians: %4d µs taken and given back, %4d µs refused, %4d µs renewed: %s%n", taken,
				refused, renewed, name);
	}

	private static void require(boolean answered) {
		if (!answered) {
			throw new AssertionError("Another answer was expected");
		}
	}

	// In microseconds, after as many calls that are not counted
	private static long median(Runnable call) {
		long[] times = new long[ROUNDS];
		for (int i = -ROUNDS; i < ROUNDS; i++) {
			long start = System.nanoTime();
			call.run();
			if (i >= 0) {
				times[i] = System.nanoTime() - start;
			}
		}
		Arrays.sort(times);
		return times[ROUNDS / 2] / 1000;
	}

}
