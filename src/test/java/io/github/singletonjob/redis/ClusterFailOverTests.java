package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis Cluster in which another node takes over.
 */
class ClusterFailOverTests {

	private final RedisServer first = node();

	private final RedisServer second = node();

	private final RedisServer replica = node();

	private static RedisServer node() {
		return RedisServer.create().with("cluster-enabled", "yes").with("cluster-require-full-coverage", "no");
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await()
			.pollInterval(Duration.ofMillis(100))
			.atMost(Duration.ofSeconds(30))
			.ignoreExceptions()
			.until(condition);
	}

	@BeforeEach
	void start() {
		int half = SlotHash.SLOT_COUNT / 2;
		this.first.start().ask((node) -> node.clusterAddSlots(IntStream.range(0, half).toArray()));
		this.second.start().ask((node) -> node.clusterAddSlots(IntStream.range(half, SlotHash.SLOT_COUNT).toArray()));
		this.replica.start();
		// Else two of them could have the same, one of which is raised only later: what
		// takes over must be above what it replaces
		this.first.ask((node) -> node.clusterSetConfigEpoch(1));
		this.second.ask((node) -> node.clusterSetConfigEpoch(2));
		this.replica.ask((node) -> node.clusterSetConfigEpoch(3));
		String primary = this.second.ask((node) -> node.clusterMyId());
		for (RedisServer other : List.of(this.second, this.replica)) {
			this.first.ask((node) -> node.clusterMeet("127.0.0.1", other.port()));
		}
		await(() -> "OK".equals(this.replica.ask((node) -> node.clusterReplicate(primary))));
		await(() -> this.replica.ask((node) -> node.info("replication")).contains("master_link_status:up"));
		for (RedisServer node : List.of(this.first, this.second, this.replica)) {
			await(() -> node.ask((commands) -> commands.clusterInfo()).contains("cluster_slots_ok:16384"));
			await(() -> node.ask((commands) -> commands.clusterInfo()).contains("cluster_state:ok"));
		}
	}

	@AfterEach
	void stop() {
		this.first.close();
		this.second.close();
		this.replica.close();
	}

	@Test
	void theLeasesOfAFrozenNodeAreRenewedAtTheNodeThatTookOver() {
		LettuceConnectionFactory application = new LettuceConnectionFactory(
				new RedisClusterConfiguration().clusterNode("127.0.0.1", this.first.port()));
		try (RedisLeaseStore store = new RedisLeaseStore(application, Stores.PREFIX)) {
			List<LeaseGrant> grants = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				grants.add(Stores.acquire(store, Stores.job("job " + i), Duration.ofSeconds(1)));
			}
			this.second.freeze();
			assertThat(store.renew(grants)).contains(Renewal.EXTENDED, Renewal.UNKNOWN);
			this.replica.ask((node) -> node.clusterFailover(false, true));
			await(() -> store.renew(grants).stream().allMatch(Renewal.EXTENDED::equals));
		}
	}

}
