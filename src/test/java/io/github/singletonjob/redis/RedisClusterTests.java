package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis Cluster of two nodes.
 */
class RedisClusterTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final RedisServer first = node();

	private static final RedisServer second = node();

	private final List<LeaseGrant> grants = new ArrayList<>();

	private RedisLeaseStore store;

	private static RedisServer node() {
		return RedisServer.create().with("cluster-enabled", "yes").with("cluster-require-full-coverage", "no");
	}

	@BeforeAll
	static void start() {
		int half = SlotHash.SLOT_COUNT / 2;
		first.start().ask((node) -> node.clusterAddSlots(IntStream.range(0, half).toArray()));
		second.start().ask((node) -> node.clusterAddSlots(IntStream.range(half, SlotHash.SLOT_COUNT).toArray()));
		first.ask((node) -> node.clusterMeet("127.0.0.1", second.port()));
		for (RedisServer server : List.of(first, second)) {
			Awaitility.await()
				.atMost(TIMEOUT)
				.until(() -> server.ask((node) -> node.clusterInfo()),
						(info) -> info.contains("cluster_slots_ok:16384") && info.contains("cluster_state:ok"));
		}
	}

	@AfterAll
	static void stop() {
		first.close();
		second.close();
	}

	private static RedisLeaseStore open() {
		return new RedisLeaseStore(
				new LettuceConnectionFactory(new RedisClusterConfiguration().clusterNode("127.0.0.1", first.port())),
				Stores.PREFIX);
	}

	@BeforeEach
	void acquire() {
		this.store = open();
		this.store.probe();
		for (int i = 0; i < 50; i++) {
			this.grants.add(Stores.acquire(this.store, Stores.job("job " + i), Duration.ofSeconds(1)));
		}
	}

	@AfterEach
	void release() {
		this.grants.forEach(this.store::release);
		this.store.close();
	}

	@Test
	void keepsJobsOnAllNodes() {
		assertThat(Stores.keys(first)).isNotEmpty();
		assertThat(Stores.keys(second)).isNotEmpty();
		assertThat(this.store.renew(this.grants)).hasSize(50).containsOnly(Renewal.EXTENDED);
		assertThat(Stores.isHeld(this.store, Stores.job("job 1"))).isTrue();
		assertThat(this.store.release(this.grants.get(1))).isTrue();
		assertThat(renew(this.store, this.grants.get(1))).isEqualTo(Renewal.GONE);
	}

	@Test
	void renewsWhatIsOnTheOtherNodesWhileOneIsFrozen() {
		second.freeze();
		try {
			assertThat(this.store.renew(this.grants)).isEqualTo(this.grants.stream().map(this::expected).toList());
		}
		finally {
			second.resume();
		}
		Awaitility.await()
			.atMost(TIMEOUT)
			.ignoreExceptions()
			.until(() -> this.store.renew(this.grants).stream().allMatch(Renewal.EXTENDED::equals));
	}

	@Test
	void tellsOfReleasesOnAnyNode() {
		for (boolean onFirst : new boolean[] { true, false }) {
			LeaseGrant grant = this.grants.stream()
				.filter((each) -> (expected(each) == Renewal.EXTENDED) == onFirst)
				.findAny()
				.get();
			AtomicInteger woken = new AtomicInteger();
			try (RedisLeaseStore other = open();
					LeaseWatch watch = other.watch(grant.job(), TIMEOUT, woken::incrementAndGet)) {
				Awaitility.await().atMost(TIMEOUT).until(() -> woken.get() > 0);
				int before = woken.get();
				assertThat(this.store.release(grant)).isTrue();
				Awaitility.await().atMost(TIMEOUT).until(() -> woken.get() > before);
			}
		}
	}

	@Test
	void doesNotWaitForANodeThatItIsNotConnectedWithYet() {
		LeaseGrant onFirst = this.grants.stream()
			.filter((grant) -> expected(grant) == Renewal.EXTENDED)
			.findAny()
			.get();
		try (RedisLeaseStore fresh = open()) {
			assertThat(renew(fresh, onFirst)).isEqualTo(Renewal.EXTENDED);
			second.freeze();
			assertThat(fresh.renew(this.grants)).isEqualTo(this.grants.stream().map(this::expected).toList());
		}
		finally {
			second.resume();
		}
	}

	private Renewal expected(LeaseGrant grant) {
		boolean onFirst = SlotHash.getSlot(Stores.leaseKey(grant.job())) < SlotHash.SLOT_COUNT / 2;
		return onFirst ? Renewal.EXTENDED : Renewal.UNKNOWN;
	}

}
