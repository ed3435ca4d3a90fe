package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.servers.RedisServer;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is found out at start.
 */
class RedisCheckTests {

	private static final CommandType[] DOCUMENTED = { CommandType.EVALSHA, CommandType.EVAL, CommandType.GET,
			CommandType.SET, CommandType.INCR, CommandType.PEXPIRE, CommandType.PTTL, CommandType.DEL, CommandType.TIME,
			CommandType.HSET, CommandType.HGET, CommandType.HMGET, CommandType.HGETALL, CommandType.PUBLISH,
			CommandType.SUBSCRIBE, CommandType.UNSUBSCRIBE };

	private final RedisServer server = RedisServer.create().withPassword("secret");

	private final RedisStandaloneConfiguration target = new RedisStandaloneConfiguration("127.0.0.1",
			this.server.port());

	@BeforeEach
	void start() {
		this.server.start();
		this.target.setPassword("secret");
	}

	@AfterEach
	void stop() {
		this.server.close();
	}

	private UnusableStoreException refusal() {
		try (RedisLeaseStore store = Stores.open(this.target)) {
			return assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(store::probe).actual();
		}
	}

	private void assertUsable() {
		try (RedisLeaseStore store = Stores.open(this.target)) {
			store.probe();
			LeaseGrant grant = Stores.acquire(store, Stores.job("billing"));
			assertThat(Stores.isHeld(store, grant.job())).isTrue();
			assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
			assertThat(store.release(grant)).isTrue();
		}
	}

	private void restrictedUser(CommandType... commands) {
		AclSetuserArgs rights = AclSetuserArgs.Builder.reset()
			.on()
			.addPassword("pw")
			.keyPattern(Stores.PREFIX + "*")
			.resetChannels()
			.channelPattern(Stores.PREFIX + "*");
		for (CommandType command : commands) {
			rights.addCommand(command);
		}
		this.server.ask((redis) -> redis.aclSetuser("shop", rights));
		this.target.setUsername("shop");
		this.target.setPassword("pw");
	}

	@Test
	void aPasswordIsEnough() {
		assertUsable();
		try (RedisLeaseStore store = Stores.open(this.target)) {
			store.probe();
		}
		assertThat(Stores.keys(this.server)).containsExactlyInAnyOrder(Stores.tokenKey(Stores.job("billing")),
				Stores.recordKey(Stores.job("billing")));
	}

	@Test
	void aWrongPasswordIsRefused() {
		this.target.setPassword("wrong");
		assertThat(refusal()).hasMessageContaining("WRONGPASS");
		this.target.setPassword("");
		assertThat(refusal()).hasMessageContaining("NOAUTH");
		assertThat(refusal().action()).contains("spring.data.redis.password");
	}

	@Test
	void aUserWithTheDocumentedRightsIsEnough() {
		restrictedUser(DOCUMENTED);
		assertUsable();
	}

	@Test
	void aUserWhoLacksARightIsRefused() {
		for (CommandType each : DOCUMENTED) {
			if (each != CommandType.SUBSCRIBE && each != CommandType.UNSUBSCRIBE) {
				restrictedUser(Stream.of(DOCUMENTED).filter((other) -> other != each).toArray(CommandType[]::new));
				assertThat(refusal()).as("without " + each).hasMessageContaining("lacks a right");
				assertThat(refusal().action()).contains("~singleton-job:*")
					.contains("+" + each.name().toLowerCase(Locale.ROOT));
			}
		}
	}

	@Test
	void aUserWhoLacksTheChannelsIsRefused() {
		restrictedUser(DOCUMENTED);
		this.server.ask((redis) -> redis.aclSetuser("shop", AclSetuserArgs.Builder.resetChannels()));
		assertThat(refusal()).hasMessageContaining("lacks a right");
		assertThat(refusal().action()).contains("&singleton-job:*");
	}

	@Test
	void aUserWhoMayNotSubscribeIsEnoughToStandBy() {
		restrictedUser(Stream.of(DOCUMENTED)
			.filter((each) -> each != CommandType.SUBSCRIBE && each != CommandType.UNSUBSCRIBE)
			.toArray(CommandType[]::new));
		assertUsable();
		try (RedisLeaseStore store = Stores.open(this.target)) {
			LeaseWatch watch = store.watch(Stores.job("billing"), Duration.ofSeconds(3), () -> {
			});
			LeaseGrant grant = Stores.acquire(store, Stores.job("billing"));
			watch.close();
			assertThat(store.release(grant)).isTrue();
		}
	}

	@Test
	void aUserWhoMayNotExecuteScriptsIsRefused() {
		restrictedUser(CommandType.GET, CommandType.SET);
		assertThat(refusal()).hasMessageContaining("evalsha");
	}

	@Test
	void aReplicaIsRefused() {
		try (RedisServer primary = RedisServer.create().start()) {
			this.server.replicaOf(primary);
			assertThat(refusal()).hasMessageContaining("is a replica");
		}
	}

	@Test
	void noAnswerIsNoRefusal() {
		this.server.kill();
		try (RedisLeaseStore store = Stores.open(this.target)) {
			long start = System.nanoTime();
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(store::probe)
				.isNotInstanceOf(UnusableStoreException.class)
				.withMessageContaining("cannot be reached");
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
			this.server.start();
			store.probe();
		}
	}

}
