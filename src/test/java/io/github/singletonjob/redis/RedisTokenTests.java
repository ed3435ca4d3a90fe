package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.SplittableRandom;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.fencing.FenceSchema;
import io.github.singletonjob.fencing.JdbcFence;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.runtime.DaemonThreads;
import io.github.singletonjob.runtime.LeaseKeeper;
import io.github.singletonjob.runtime.LeaseTiming;
import io.github.singletonjob.runtime.RunSettings;
import io.github.singletonjob.runtime.Scheduling;
import io.github.singletonjob.runtime.SingletonJobRunner;
import io.github.singletonjob.runtime.SystemClock;
import io.github.singletonjob.servers.PostgresServer;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tokens go up, whatever the server forgets.
 */
class RedisTokenTests {

	private final RedisServer server = RedisServer.create();

	private final JobId job = Stores.job("billing");

	private RedisLeaseStore store;

	@BeforeEach
	void open() {
		this.store = Stores.open(this.server.start());
	}

	@AfterEach
	void close() {
		this.store.close();
		this.server.close();
	}

	private long tokenOfOneGrant(RedisLeaseStore from) {
		LeaseGrant grant = Stores.acquire(from, this.job);
		assertThat(from.release(grant)).isTrue();
		return grant.token();
	}

	@Test
	void goUpAfterTheServerWasWiped() {
		long before = tokenOfOneGrant(this.store);
		this.server.ask(RedisCommands::flushall);
		assertThat(tokenOfOneGrant(this.store)).isGreaterThan(before);
	}

	@Test
	void ofAHolderWhoseServerWasWipedAreLowerThanTheNextOnes() {
		LeaseGrant late = Stores.acquire(this.store, this.job);
		this.server.ask(RedisCommands::flushall);
		assertThat(renew(this.store, late)).isEqualTo(Renewal.GONE);
		LeaseGrant next = Stores.acquire(this.store, this.job);
		assertThat(next.token()).isGreaterThan(late.token());
		assertThat(this.store.release(late)).isFalse();
		assertThat(renew(this.store, late)).isEqualTo(Renewal.GONE);
		assertThat(renew(this.store, next)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void goUpAfterARestartWithoutPersistence() {
		LeaseGrant late = Stores.acquire(this.store, this.job);
		this.server.restart();
		LeaseGrant next = Stores.acquire(this.store, this.job);
		assertThat(next.token()).isGreaterThan(late.token());
		assertThat(renew(this.store, late)).isEqualTo(Renewal.GONE);
	}

	@Test
	void goUpWhenAReplicaIsPromotedThatMissedTheLastGrant() {
		tokenOfOneGrant(this.store);
		try (RedisServer replica = RedisServer.create().start(); RedisLeaseStore promoted = Stores.open(replica)) {
			replica.replicaOf(this.server);
			replica.promote();
			LeaseGrant missed = Stores.acquire(this.store, this.job);
			assertThat(Stores.acquire(promoted, this.job).token()).isGreaterThan(missed.token());
		}
	}

	@Test
	void thatArePromotedBelowTheFenceAreAskedForAgainAboveIt() throws Exception {
		long future = System.currentTimeMillis() + Duration.ofDays(365).toMillis();
		grant(future);
		this.server.ask((commands) -> commands.del(Stores.leaseKey(this.job)));
		Fence fence = fence();
		try (RedisServer replica = RedisServer.create().start(); RedisLeaseStore promoted = Stores.open(replica)) {
			replica.replicaOf(this.server);
			replica.promote();
			LeaseGrant missed = Stores.acquire(this.store, this.job);
			fence.raise(missed, "server-1", Duration.ofSeconds(10));
			assertThat(tokenOfOneGrant(promoted)).isEqualTo(missed.token());
			long[] token = new long[1];
			replica.ask((commands) -> commands.decr(Stores.tokenKey(this.job)));
			assertThat(run(promoted, fence, token)).isEqualTo(RunOutcome.COMPLETED);
			assertThat(token[0]).isGreaterThan(missed.token());
		}
	}

	@Test
	void areExactBeyondTheNumbersOfLua() {
		long floor = (1L << 60) + 1;
		assertThat(grant(floor).token()).isEqualTo(floor + 1);
	}

	@Test
	void ofAJobTakeTwoKeysThatStay() {
		tokenOfOneGrant(this.store);
		tokenOfOneGrant(this.store);
		assertThat(Stores.keys(this.server)).containsExactlyInAnyOrder(Stores.tokenKey(this.job),
				Stores.recordKey(this.job));
		for (String key : Stores.keys(this.server)) {
			long ttl = this.server.ask((commands) -> commands.pttl(key));
			assertThat(ttl).as(key).isEqualTo(-1);
		}
	}

	private LeaseGrant grant(long floor) {
		Acquisition answer = this.store
			.tryAcquire(new LeaseRequest(this.job, "owner", "somebody", Stores.LONG_TTL, Duration.ofSeconds(5), floor));
		return ((Acquisition.Acquired) answer).grant();
	}

	private RunOutcome run(RedisLeaseStore promoted, Fence fence, long[] token) {
		LeaseTiming timing = LeaseTiming.of(Duration.ofSeconds(10), null, null);
		try (DaemonThreads threads = new DaemonThreads()) {
			Scheduling scheduling = new Scheduling(new SystemClock(), threads, threads, new SplittableRandom());
			LeaseKeeper keeper = new LeaseKeeper(promoted, scheduling, (run, reason) -> {
			});
			return new SingletonJobRunner(promoted, fence, keeper, "server-2")
				.run(this.job, new RunSettings(timing, null, OnLost.INTERRUPT, false), (run) -> token[0] = run.token())
				.outcome();
		}
	}

	private static Fence fence() {
		DriverManagerDataSource guarded = new DriverManagerDataSource(PostgresServer.shared().newDatabase(),
				PostgresServer.USERNAME, "");
		new FenceSchema(guarded).initialize();
		return new JdbcFence(guarded);
	}

}
