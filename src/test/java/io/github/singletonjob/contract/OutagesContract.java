package io.github.singletonjob.contract;

import java.util.List;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A server that does not answer leaves the outcome unknown, for as long as it is.
 */
abstract class OutagesContract {

	private @Nullable Outage outage;

	abstract Instances instances();

	abstract @Nullable Outage openOutage();

	@BeforeEach
	void requireOutage() {
		this.outage = openOutage();
		assumeTrue(this.outage != null, "there is no server to be cut off from");
	}

	@AfterEach
	void closeOutage() {
		if (this.outage != null) {
			this.outage.close();
		}
	}

	@Test
	void areUnknownWithinTheTimeOfACall() {
		Instances instances = instances();
		LeaseStore store = this.outage.store();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		this.outage.cut();
		for (Runnable call : List.<Runnable>of(() -> instances.isHeld(store, instances.job("reminders")),
				() -> renew(store, grant), () -> store.release(grant))) {
			long start = System.nanoTime();
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(call::run);
			assertThat(Instances.since(start)).isLessThan(instances.traits().callTimeout().multipliedBy(2));
		}
	}

	@Test
	void thatAreShortDoNotEndALease() {
		Instances instances = instances();
		LeaseStore store = this.outage.store();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		this.outage.cut();
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> renew(store, grant));
		}
		this.outage.restore();
		Instances.await(instances.traits().callTimeout())
			.ignoreExceptions()
			.until(() -> renew(store, grant) == Renewal.EXTENDED);
		assertThat(instances.isHeld(instances.open(), grant.job())).isTrue();
	}

	@Test
	void thatAreLongEndALease() {
		Instances instances = instances();
		LeaseStore store = this.outage.store();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		this.outage.cut();
		instances.awaitExpiry(instances.open(), grant.job());
		this.outage.restore();
		Instances.await(Instances.PATIENCE).ignoreExceptions().until(() -> renew(store, grant) == Renewal.GONE);
	}

	@Test
	void leaveNothingBehindThatNeedsARestart() {
		Instances instances = instances();
		LeaseStore store = this.outage.store();
		JobId job = instances.job("billing");
		this.outage.cut();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> instances.isHeld(store, job));
		this.outage.restore();
		LeaseGrant grant = Instances.awaitGrant(() -> store.tryAcquire(instances.request(job, "again")));
		assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void doNotLeaveALeaseThatNobodyKnowsOf() {
		Instances instances = instances();
		LeaseStore store = this.outage.store();
		JobId job = instances.job("billing");
		LeaseGrant kept = instances.acquire(store, instances.job("kept"));
		this.outage.cutReplies();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> instances.isHeld(store, job));
		this.outage.restore();
		LeaseStore other = instances.open();
		Instances.await(Instances.PATIENCE).until(() -> {
			assertThat(renew(store, kept)).isEqualTo(Renewal.EXTENDED);
			return !instances.isHeld(other, job);
		});
	}

}
