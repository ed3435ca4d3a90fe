package io.github.singletonjob.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.contract.RacingRenewals;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is executed in the server, and how often.
 */
class RedisScriptTests {

	private static final RedisServer server = RedisServer.create();

	private final JobId job = Stores.job("billing");

	private RedisLeaseStore store;

	@BeforeAll
	static void start() {
		server.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@BeforeEach
	void open() {
		server.ask(RedisCommands::flushall);
		this.store = Stores.open(server);
	}

	@AfterEach
	void close() {
		this.store.close();
	}

	@Test
	void areLoadedAgainAfterTheServerForgotThem() {
		LeaseGrant grant = Stores.acquire(this.store, this.job);
		server.ask(RedisCommands::scriptFlush);
		assertThat(Stores.isHeld(this.store, this.job)).isTrue();
		server.ask(RedisCommands::scriptFlush);
		assertThat(renew(this.store, grant)).isEqualTo(Renewal.EXTENDED);
		server.ask(RedisCommands::scriptFlush);
		assertThat(this.store.release(grant)).isTrue();
	}

	@Test
	void areSentByTheirDigest() {
		Stores.acquire(this.store, this.job);
		server.ask(RedisCommands::configResetstat);
		for (int i = 0; i < 10; i++) {
			assertThat(Stores.isHeld(this.store, this.job)).isTrue();
		}
		assertThat(calls("evalsha")).isEqualTo(10);
		assertThat(calls("eval")).isZero();
	}

	@Test
	void writeNothingIfTheJobIsHeld() {
		Stores.acquire(this.store, this.job);
		String before = server.ask((commands) -> commands.get(Stores.leaseKey(this.job)));
		server.ask(RedisCommands::configResetstat);
		assertThat(Stores.isHeld(this.store, this.job)).isTrue();
		assertThat(calls("get")).isEqualTo(1);
		assertNothingIsWritten();
		String after = server.ask((commands) -> commands.get(Stores.leaseKey(this.job)));
		assertThat(after).isEqualTo(before);
	}

	@Test
	void writeNothingIfThereIsNothingToRun() {
		Instant fireTime = Instant.now().truncatedTo(ChronoUnit.HOURS);
		LeaseRequest request = Stores.request(this.job, Duration.ofSeconds(5))
			.forFiring(new Firing("", fireTime, true));
		this.store.release(((Acquisition.Acquired) this.store.tryAcquire(request)).grant(), fireTime);
		LeaseRequest early = Stores.request(this.job, Duration.ofSeconds(5))
			.forFiring(new Firing("", fireTime.plus(1, ChronoUnit.DAYS), true));
		server.ask(RedisCommands::configResetstat);
		assertThat(this.store.tryAcquire(request)).isEqualTo(new Acquisition.AlreadyRan(fireTime));
		assertThat(this.store.tryAcquire(early)).isInstanceOf(Acquisition.Early.class);
		assertThat(this.store.inspect(this.job, Duration.ofSeconds(5)).held()).isFalse();
		assertThat(calls("evalsha") + calls("eval")).as("round trips").isLessThanOrEqualTo(4);
		assertNothingIsWritten();
	}

	private static void assertNothingIsWritten() {
		for (String write : List.of("set", "incr", "pexpire", "del", "hset", "publish")) {
			assertThat(calls(write)).as(write).isZero();
		}
	}

	@Test
	void renewAThousandLeasesInOneFlush() {
		CountedFlushes flushes = new CountedFlushes();
		ClientResources resources = ClientResources.builder().nettyCustomizer(flushes).build();
		LettuceConnectionFactory application = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", server.port()),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		try (RedisLeaseStore counted = new RedisLeaseStore(application, Stores.PREFIX)) {
			List<LeaseGrant> grants = new ArrayList<>();
			for (int i = 0; i < 1000; i++) {
				grants.add(Stores.acquire(counted, Stores.job("job " + i)));
			}
			assertThat(counted.renew(grants)).hasSize(1000).containsOnly(Renewal.EXTENDED);
			server.ask(RedisCommands::configResetstat);
			int before = flushes.count();
			long start = System.nanoTime();
			List<Renewal> answers = counted.renew(grants);
			long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
			System.out.printf("1,000 leases renewed in Redis: %d flush(es), read by Redis in %d pieces, %d ms%n",
					flushes.count() - before, reads(), millis);
			assertThat(answers).hasSize(1000).containsOnly(Renewal.EXTENDED);
			assertThat(flushes.count() - before).isEqualTo(1);
			assertThat(calls("evalsha")).isEqualTo(1000);
			assertThat(reads()).isLessThan(200);
		}
		finally {
			resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

	@Test
	void ofOneBrokenLeaseDoNotSpoilTheOthers() {
		LeaseGrant first = Stores.acquire(this.store, Stores.job("first"));
		LeaseGrant broken = Stores.acquire(this.store, Stores.job("broken"));
		LeaseGrant last = Stores.acquire(this.store, Stores.job("last"));
		server.ask((commands) -> commands.del(Stores.leaseKey(broken.job())));
		server.ask((commands) -> commands.lpush(Stores.leaseKey(broken.job()), "what is this"));
		assertThat(this.store.renew(List.of(first, broken, last))).containsExactly(Renewal.EXTENDED, Renewal.UNKNOWN,
				Renewal.EXTENDED);
	}

	@Test
	void compareTheWholeGrant() {
		LeaseGrant grant = Stores.acquire(this.store, this.job);
		LeaseGrant other = new LeaseGrant(grant.request(), grant.token() - 1, null, false);
		LeaseGrant begun = new LeaseGrant(request(grant.owner().substring(0, 8)), grant.token(), null, false);
		for (LeaseGrant forged : List.of(other, begun)) {
			assertThat(renew(this.store, forged)).isEqualTo(Renewal.GONE);
			assertThat(this.store.release(forged)).isFalse();
		}
		assertThat(renew(this.store, grant)).isEqualTo(Renewal.EXTENDED);
	}

	private LeaseRequest request(String owner) {
		return new LeaseRequest(this.job, owner, "somebody", Stores.LONG_TTL, Stores.TRAITS.callTimeout(), 0);
	}

	@Test
	void leaveNoLeaseWhenReleasesRaceWithRenewals() {
		int rounds = RacingRenewals.race(this.store,
				(worker) -> Stores.request(Stores.job("job " + worker), Duration.ofSeconds(5)), 10_000);
		assertThat(Stores.keys(server)).hasSize(8)
			.allMatch((key) -> key.contains("}:token:") || key.contains("}:record:"));
		assertThat(calls("del")).isGreaterThanOrEqualTo(rounds);
	}

	@Test
	void haveKeysOfOneSlotWhateverTheName() {
		for (String name : List.of("billing", "{braces}", "}{", "{}", "{a}{b}", "a:b", "請求書", "🧾", "two\nlines")) {
			RedisJob keys = RedisJob.of(Stores.PREFIX, new JobId(name, name));
			assertThat(SlotHash.getSlot(keys.lease())).as(name).isEqualTo(SlotHash.getSlot(keys.token()));
			assertThat(SlotHash.getSlot(keys.lease())).as(name).isEqualTo(SlotHash.getSlot(keys.record()));
			assertThat(keys.lease()).as(name).isNotEqualTo(keys.token()).endsWith(name + '/' + name);
		}
		assertThat(SlotHash.getSlot(Stores.leaseKey(this.job)))
			.isNotEqualTo(SlotHash.getSlot(Stores.leaseKey(Stores.job("other"))));
	}

	@Test
	void refuseWhatWouldMixUpKeysOrOwners() {
		assertThatIllegalArgumentException().isThrownBy(() -> RedisJob.requireValidPrefix("a{b}:"))
			.withMessageContaining("braces");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.tryAcquire(request("two words")))
			.withMessageContaining("white space");
	}

	private static long calls(String command) {
		return number("commandstats", "cmdstat_" + command + ":calls=(\\d+)");
	}

	private static long reads() {
		return number("stats", "total_reads_processed:(\\d+)");
	}

	private static long number(String section, String pattern) {
		Matcher matcher = Pattern.compile(pattern).matcher(server.ask((commands) -> commands.info(section)));
		return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
	}

}
