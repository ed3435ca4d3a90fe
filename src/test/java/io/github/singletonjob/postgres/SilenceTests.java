package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.singletonjob.contract.Instances;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.servers.JvmProcess;
import io.github.singletonjob.servers.TcpProxy;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A holder that the server does not hear of any more loses its leases, and only then.
 */
class SilenceTests {

	private static final Duration LONG_TTL = Duration.ofMinutes(5);

	private final String url = Databases.create();

	private final StoreTraits traits = new StoreTraits(Duration.ofSeconds(2), Duration.ofSeconds(1),
			Duration.ofMillis(300));

	private final Instances instances = new Instances(() -> Databases.store(this.url), this.traits);

	private final JobId job = this.instances.job("billing");

	private final TcpProxy proxy = TcpProxy.to(Databases.server().port());

	private final PostgresLeaseStore store = Databases.store(this.proxy.through(this.url));

	private LeaseStore other;

	@BeforeEach
	void openOther() {
		this.other = this.instances.open();
	}

	@AfterEach
	void close() throws Exception {
		this.store.close();
		this.instances.close();
		this.proxy.close();
	}

	private LeaseGrant awaitNext() {
		return Instances.awaitGrant(() -> this.other.tryAcquire(this.instances.request(this.job, "next")));
	}

	/** A lease that does not expire within {@link Instances#awaitGrant}. */
	private LeaseGrant acquireForLong() {
		LeaseRequest request = new LeaseRequest(this.job, "the owner", "late", LONG_TTL, this.traits.callTimeout(), 0);
		return Instances.awaitGrant(() -> this.store.tryAcquire(request));
	}

	@Test
	void aFrozenHolderLosesItsLeaseAndLearnsOfIt() {
		String ttl = Long.toString(this.traits.ttl().toMillis());
		try (JvmProcess holder = JvmProcess.of(SilentHolder.class, this.url, this.job.namespace(), this.job.name(), ttl)
			.start()) {
			long token = Long.parseLong(holder.awaitLine("token", Duration.ofSeconds(20)).substring("token ".length()));
			holder.awaitLine("EXTENDED", Duration.ofSeconds(5));
			assertThat(this.instances.isHeld(this.other, this.job)).isTrue();
			holder.freeze();
			assertThat(awaitNext().token()).isGreaterThan(token);
			holder.resume();
			holder.awaitLine("GONE", Duration.ofSeconds(10));
		}
	}

	@Test
	void aHalfOpenConnectionLosesItsLease() {
		LeaseGrant late = Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.job, "late")));
		this.proxy.hang();
		LeaseGrant next = awaitNext();
		assertThat(next.token()).isGreaterThan(late.token());
		// Never told by the network: the store's own limit ends the session
		Awaitility.await()
			.pollInSameThread()
			.atMost(this.traits.ttl().multipliedBy(3))
			.ignoreException(LeaseStoreException.class)
			.until(() -> Instances.renew(this.store, late) == Renewal.GONE);
		assertThat(this.store.release(late)).isFalse();
		this.proxy.reset();
		this.proxy.pass();
		Instances.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.instances.job("x"), "again")));
	}

	@Test
	void aDroppedConnectionFreesTheLeaseBeforeItExpires() {
		LeaseGrant late = acquireForLong();
		this.proxy.reset();
		assertThat(awaitNext().token()).isGreaterThan(late.token());
		assertThat(Instances.renew(this.store, late)).isEqualTo(Renewal.GONE);
		assertThat(this.instances.isHeld(this.store, this.job)).isTrue();
	}

	@Test
	void aRenewalThatIsOnItsWayDoesNotReviveWhatIsReleased() throws Exception {
		LeaseGrant grant = acquireForLong();
		this.proxy.hangReplies();
		long sent = this.proxy.bytesToServer();
		CompletableFuture<Void> renewal = CompletableFuture
			.runAsync(() -> assertUnknown(() -> Instances.renew(this.store, grant)));
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(1))
			.until(() -> this.proxy.bytesToServer() > sent);
		assertUnknown(() -> this.store.release(grant));
		renewal.get();
		this.proxy.pass();
		// The release went on without its caller, long before the lease expires
		assertThat(Instances.renew(this.other, awaitNext())).isEqualTo(Renewal.EXTENDED);
		assertThat(Instances.renew(this.store, grant)).isEqualTo(Renewal.GONE);
		assertThat(this.store.release(grant)).isFalse();
		assertThat(this.instances.isHeldForANewInstance(this.job)).isTrue();
	}

	private static void assertUnknown(ThrowingCallable call) {
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(call);
	}

	@Test
	void aSlowNetworkDoesNotEndALease() {
		LeaseGrant grant = Instances
			.awaitGrant(() -> this.store.tryAcquire(this.instances.request(this.job, "somebody")));
		// Each reply comes after its caller has given up, and the session goes on
		this.proxy.delay(Duration.ofMillis(200));
		for (int i = 0; i < 10; i++) {
			assertUnknown(() -> Instances.renew(this.store, grant));
		}
		assertThat(Databases.advisoryLocks(this.url)).isEqualTo(1);
		this.proxy.pass();
		Awaitility.await()
			.pollInSameThread()
			.atMost(Duration.ofSeconds(1))
			.ignoreException(LeaseStoreException.class)
			.until(() -> Instances.renew(this.store, grant) == Renewal.EXTENDED);
		assertThat(this.store.release(grant)).isTrue();
	}

}
