package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Those who stand by are told over one connection, whatever becomes of it.
 */
@Timeout(90)
class RedisStandByTests {

	private static final Duration TTL = Duration.ofSeconds(10);

	private final RedisServer server = RedisServer.shared();

	private final TcpProxy proxy = TcpProxy.to(this.server.port());

	private final RedisLeaseStore store = Stores.open(this.proxy.port());

	private final RedisLeaseStore holder = Stores.open(this.server);

	private final JobId job = Stores.job("watched " + UUID.randomUUID());

	private final AtomicInteger woken = new AtomicInteger();

	private LeaseGrant grant;

	@BeforeEach
	void acquire() {
		this.grant = Stores.acquire(this.holder, this.job);
	}

	@AfterEach
	void close() {
		this.store.close();
		this.holder.close();
		this.proxy.close();
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofSeconds(60)).until(condition);
	}

	private LeaseWatch watch() {
		return this.store.watch(this.job, TTL, this.woken::incrementAndGet);
	}

	private void assertWokenByARelease() {
		int before = this.woken.get();
		assertThat(this.holder.release(this.grant)).isTrue();
		await(() -> this.woken.get() > before);
	}

	private int subscribers() {
		String channel = RedisJob.of(Stores.PREFIX, this.job).channel();
		return this.server.ask((commands) -> commands.pubsubNumsub(channel)).get(channel).intValue();
	}

	@Test
	void aConnectionIsThereOnlyWhileSomebodyStandsBy() {
		assertThat(this.proxy.connections()).isZero();
		LeaseWatch first = watch();
		LeaseWatch second = watch();
		assertThat(this.proxy.connections()).isEqualTo(1);
		assertThat(subscribers()).isEqualTo(1);
		first.close();
		assertWokenByARelease();
		second.close();
		await(() -> subscribers() == 0);
		await(() -> this.proxy.openConnections() == 0);
	}

	@Test
	void aConnectionThatIsLostIsMadeAnew() {
		try (LeaseWatch watch = watch()) {
			int before = this.woken.get();
			this.proxy.reset();
			await(() -> this.proxy.connections() == 2);
			await(() -> this.woken.get() > before);
			assertWokenByARelease();
		}
	}

	@Test
	void aConnectionWithoutAnswersIsReplaced() {
		try (LeaseWatch watch = watch()) {
			this.proxy.hangReplies();
			await(() -> this.proxy.connections() > 1);
			this.proxy.pass();
			await(() -> this.proxy.openConnections() == 1 && subscribers() == 1);
			assertWokenByARelease();
		}
	}

	@Test
	void withoutAnAnswerItGoesOnInTheBackground() {
		this.proxy.hang();
		long start = System.nanoTime();
		try (LeaseWatch watch = watch()) {
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TTL);
			this.proxy.pass();
			await(() -> subscribers() == 1);
			assertWokenByARelease();
		}
	}

	@Test
	void aClosedStoreLeavesNoConnection() {
		watch();
		assertThat(this.proxy.openConnections()).isEqualTo(1);
		this.store.close();
		await(() -> this.proxy.openConnections() == 0);
	}

}
