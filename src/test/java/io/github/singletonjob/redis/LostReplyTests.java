package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.RedisServer;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Redis has done what it was asked for, and its answer does not arrive. The leases are so
 * long that none ends by itself.
 */
class LostReplyTests {

	private static final Duration SHORT = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(10);

	/** Longer than a test takes, and much shorter than what a renewal gives. */
	private static final Duration SOON = Duration.ofMinutes(1);

	private final RedisServer server = RedisServer.shared();

	private final TcpProxy proxy = TcpProxy.to(this.server.port());

	private final RedisLeaseStore store = Stores.open(this.proxy.port());

	private final RedisLeaseStore other = Stores.open(this.server);

	private final JobId job = Stores.job("lost reply " + UUID.randomUUID());

	@BeforeEach
	void connect() {
		this.store.release(Stores.acquire(this.store, Stores.job("warm up")));
	}

	@AfterEach
	void close() {
		this.store.close();
		this.other.close();
		this.proxy.close();
	}

	/** The call is under way, Redis has executed it, and the connection ends somehow. */
	private <T> CompletableFuture<T> executedOn(Runnable connectionEnd, Supplier<T> call, Supplier<Boolean> executed) {
		this.proxy.hangReplies();
		CompletableFuture<T> answer = CompletableFuture.supplyAsync(call).orTimeout(20, TimeUnit.SECONDS);
		await(executed);
		connectionEnd.run();
		this.proxy.pass();
		return answer;
	}

	private boolean isKept() {
		return this.server.ask((commands) -> commands.exists(Stores.leaseKey(this.job))) == 1;
	}

	/** Whether Redis has been asked for the lease, which leaves a token in any case. */
	private boolean wasAskedFor() {
		return this.server.ask((commands) -> commands.exists(Stores.tokenKey(this.job))) == 1;
	}

	private void soonEnds() {
		this.server.ask((commands) -> commands.pexpire(Stores.leaseKey(this.job), SOON.toMillis()));
	}

	private boolean isExtended() {
		return this.server.ask((commands) -> commands.pttl(Stores.leaseKey(this.job))) > SOON.toMillis();
	}

	private static void await(Supplier<Boolean> condition) {
		Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(LONG).until(condition::get);
	}

	private static void assertUnknown(Supplier<?> call) {
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(call::get);
	}

	@Test
	void aRequestThatTheClientSendsAgainIsTheSameGrant() {
		LeaseRequest request = Stores.request(this.job, LONG);
		Acquisition answer = executedOn(this.proxy::end, () -> this.store.tryAcquire(request), this::isKept).join();
		assertThat(answer).isInstanceOf(Acquisition.Acquired.class);
		LeaseGrant grant = ((Acquisition.Acquired) answer).grant();
		String token = this.server.ask((commands) -> commands.get(Stores.tokenKey(this.job)));
		assertThat(token).isEqualTo(Long.toString(grant.token()));
		assertThat(renew(this.store, grant)).isEqualTo(Renewal.EXTENDED);
		assertThat(this.store.release(grant)).isTrue();
	}

	@Test
	void aRequestThatTheClientDoesNotSendAgainIsGivenUp() {
		LeaseRequest request = Stores.request(this.job, LONG.dividedBy(10));
		CompletableFuture<Acquisition> answer = executedOn(this.proxy::reset, () -> this.store.tryAcquire(request),
				this::isKept);
		assertThat(answer).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LeaseStoreException.class);
		await(() -> !isKept());
	}

	@Test
	void aRequestThatIsNotAnsweredInTimeIsGivenUp() {
		LeaseRequest request = Stores.request(this.job, SHORT);
		this.proxy.hangReplies();
		assertUnknown(() -> this.store.tryAcquire(request));
		await(this::wasAskedFor);
		await(() -> !isKept());
		assertThat(Stores.isHeld(this.other, this.job)).isFalse();
	}

	@Test
	void aRequestThatIsNotAnsweredInTimeIsGivenUpOnTheNextConnection() {
		LeaseRequest request = Stores.request(this.job, SHORT);
		this.proxy.hang();
		assertUnknown(() -> this.store.tryAcquire(request));
		this.proxy.reset();
		this.server.ask((commands) -> commands.set(Stores.leaseKey(this.job), request.owner() + " 17 somebody"));
		this.proxy.pass();
		await(() -> !isKept());
	}

	@Test
	void aRequestThatIsGivenUpIsNotSentAgain() {
		LeaseRequest request = Stores.request(this.job, SHORT);
		this.proxy.hang();
		assertUnknown(() -> this.store.tryAcquire(request));
		assertUnknown(() -> this.store.tryAcquire(request));
		this.proxy.end();
		this.proxy.pass();
		Stores.acquire(this.store, Stores.job("works again"));
		assertThat(Stores.keys(this.server)).doesNotContain(Stores.tokenKey(this.job));
	}

	@Test
	void aLostReplyToARenewalIsNoLoss() {
		LeaseGrant grant = Stores.acquire(this.store, this.job, SHORT);
		soonEnds();
		this.proxy.hangReplies();
		assertUnknown(() -> renew(this.store, grant));
		await(this::isExtended);
		this.proxy.pass();
		await(() -> renewed(grant) == Renewal.EXTENDED);
		soonEnds();
		assertThat(executedOn(this.proxy::end, () -> renewed(grant), this::isExtended).join())
			.isNotEqualTo(Renewal.GONE);
		soonEnds();
		assertThat(executedOn(this.proxy::reset, () -> renewed(grant), this::isExtended).join())
			.isNotEqualTo(Renewal.GONE);
		await(() -> renewed(grant) == Renewal.EXTENDED);
	}

	private Renewal renewed(LeaseGrant grant) {
		try {
			return renew(this.store, grant);
		}
		catch (LeaseStoreException ex) {
			return Renewal.UNKNOWN;
		}
	}

	@Test
	void aConnectionWithoutAnswersIsReplacedAndTheOldOneStaysInUseUntilThen() {
		LeaseGrant grant = Stores.acquire(this.store, this.job, SHORT);
		int connections = this.proxy.connections();
		this.proxy.hangReplies();
		for (int i = 0; i < 3; i++) {
			assertUnknown(() -> renew(this.store, grant));
		}
		await(() -> this.proxy.connections() == connections + 1);
		assertThat(this.proxy.openConnections()).isEqualTo(2);
		this.proxy.pass();
		await(() -> renewed(grant) == Renewal.EXTENDED);
		await(() -> this.proxy.openConnections() == 1);
	}

	@Test
	void aReleaseThatTheClientSendsAgainIsNotTakenForALoss() {
		LeaseGrant grant = Stores.acquire(this.store, this.job, LONG);
		CompletableFuture<Boolean> release = executedOn(this.proxy::end, () -> this.store.release(grant),
				() -> !isKept());
		assertThat(release).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LeaseStoreException.class)
			.withMessageContaining("connection was lost meanwhile");
		assertThat(this.store.release(grant)).isFalse();
	}

	@Test
	void anInterruptEndsARequest() {
		LeaseRequest request = Stores.request(this.job, LONG);
		this.proxy.hangReplies();
		Thread.currentThread().interrupt();
		assertUnknown(() -> this.store.tryAcquire(request));
		assertThat(Thread.interrupted()).isTrue();
		this.proxy.pass();
		await(() -> !isKept());
	}

}
