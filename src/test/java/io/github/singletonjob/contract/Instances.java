package io.github.singletonjob.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application instances of a test, each with a store of its own on the same server,
 * and how a test talks to them.
 */
public final class Instances implements AutoCloseable {

	/** For a loaded machine: bounds a wait that should be over much earlier. */
	static final Duration PATIENCE = Duration.ofSeconds(15);

	private final String namespace = "contract " + UUID.randomUUID();

	private final List<LeaseStore> opened = new ArrayList<>();

	private final Supplier<LeaseStore> opener;

	private final StoreTraits traits;

	public Instances(Supplier<LeaseStore> opener, StoreTraits traits) {
		this.opener = opener;
		this.traits = traits;
	}

	/** One more instance. */
	public LeaseStore open() {
		LeaseStore store = this.opener.get();
		this.opened.add(store);
		return store;
	}

	public JobId job(String name) {
		return new JobId(this.namespace, name);
	}

	/** A request with an owner of its own. */
	public LeaseRequest request(JobId job, String holder) {
		return request(job, holder, 0);
	}

	public LeaseRequest request(JobId job, String holder, long floor) {
		return new LeaseRequest(job, UUID.randomUUID().toString(), holder, this.traits.ttl(), this.traits.callTimeout(),
				floor);
	}

	/**
	 * A request whose calls give up so early that four of them fit into a time to live.
	 */
	LeaseRequest hastyRequest(JobId job) {
		return new LeaseRequest(job, UUID.randomUUID().toString(), "somebody", this.traits.ttl(),
				this.traits.ttl().dividedBy(6), 0);
	}

	/** Acquires, or fails the test. */
	public LeaseGrant acquire(LeaseStore store, JobId job) {
		return acquire(store, request(job, "somebody"));
	}

	public LeaseGrant acquire(LeaseStore store, LeaseRequest request) {
		Acquisition answer = store.tryAcquire(request);
		assertThat(answer).as("lease of " + request.job()).isInstanceOf(Acquisition.Acquired.class);
		return ((Acquisition.Acquired) answer).grant();
	}

	/** The same grant for a request that was never made. */
	static LeaseGrant forged(LeaseGrant grant) {
		return new LeaseGrant(grant.request().above("somebody else", 0), grant.token(), grant.fireTime(), false);
	}

	/** Asks; if nobody has the job, the caller has it then. */
	public boolean isHeld(LeaseStore store, JobId job) {
		return store.tryAcquire(request(job, "who asks")) instanceof Acquisition.Held;
	}

	/**
	 * Asks as a new instance. An unknown outcome is asked for again: on a busy machine it
	 * can take long to connect.
	 */
	public boolean isHeldForANewInstance(JobId job) {
		LeaseStore store = open();
		return await(PATIENCE).ignoreException(LeaseStoreException.class)
			.until(() -> store.tryAcquire(request(job, "who asks")), Objects::nonNull) instanceof Acquisition.Held;
	}

	/** Renews; an unknown outcome is asked for again. */
	static Renewal awaitRenewal(LeaseStore store, LeaseGrant grant) {
		return await(PATIENCE).ignoreException(LeaseStoreException.class)
			.until(() -> renew(store, grant), (answer) -> answer != Renewal.UNKNOWN);
	}

	public static Renewal renew(LeaseStore store, LeaseGrant grant) {
		return store.renew(List.of(grant)).get(0);
	}

	/**
	 * Asks until the lease is granted; an unknown outcome counts as a no.
	 */
	public static LeaseGrant awaitGrant(Callable<Acquisition> attempt) {
		return await(PATIENCE).ignoreException(LeaseStoreException.class)
			.until(() -> (attempt.call() instanceof Acquisition.Acquired acquired) ? acquired.grant() : null,
					Objects::nonNull);
	}

	/** Waits until nobody holds the job; then the caller does. */
	public void awaitExpiry(LeaseStore store, JobId job) {
		await(this.traits.ttl().plus(this.traits.expiresLate()).plus(PATIENCE)).until(() -> !isHeld(store, job));
	}

	static ConditionFactory await(Duration atMost) {
		return Awaitility.await()
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(20))
			.atMost(atMost);
	}

	static Duration since(long nanos) {
		return Duration.ofNanos(System.nanoTime() - nanos);
	}

	StoreTraits traits() {
		return this.traits;
	}

	public Duration ttl() {
		return this.traits.ttl();
	}

	@Override
	public void close() throws Exception {
		for (LeaseStore store : this.opened) {
			if (store instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

}
