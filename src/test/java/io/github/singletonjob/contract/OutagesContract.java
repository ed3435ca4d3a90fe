package io.github.singletonjob.contract;

import java.util.List;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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

	private LeaseGrant acquire(LeaseStore store, JobId job) {
		return Instances.awaitGrant(() -> store.tryAcquire(instances().hastyRequest(job)));
	}

	private void assertUnknown(ThrowingCallable call) {
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(call);
	}

	@Test
	void areUnknownWithinTheTimeOfACall() {
		LeaseStore store = this.outage.store();
		LeaseGrant grant = acquire(store, instances().job("billing"));
		LeaseRequest request = instances().hastyRequest(instances().job("reminders"));
		this.outage.cut();
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> store.tryAcquire(request),
				() -> renew(store, grant), () -> store.release(grant))) {
			long start = System.nanoTime();
			assertUnknown(call);
			// An unbounded call would take longer than the time to live, which is six
			// times as long
			assertThat(Instances.since(start)).isLessThan(request.callTimeout().multipliedBy(4));
		}
	}

	@Test
	void thatAreShortDoNotEndALease() {
		LeaseStore store = this.outage.store();
		LeaseGrant grant = acquire(store, instances().job("billing"));
		this.outage.cut();
		for (int i = 0; i < 3; i++) {
			assertUnknown(() -> renew(store, grant));
		}
		this.outage.restore();
		assertThat(Instances.awaitRenewal(store, grant)).isEqualTo(Renewal.EXTENDED);
		assertThat(instances().isHeld(instances().open(), grant.job())).isTrue();
	}

	@Test
	void thatAreLongEndALease() {
		LeaseStore store = this.outage.store();
		LeaseGrant grant = acquire(store, instances().job("billing"));
		this.outage.cut();
		instances().awaitExpiry(instances().open(), grant.job());
		this.outage.restore();
		assertThat(Instances.awaitRenewal(store, grant)).isEqualTo(Renewal.GONE);
	}

	@Test
	void leaveNothingBehindThatNeedsARestart() {
		LeaseStore store = this.outage.store();
		JobId job = instances().job("billing");
		this.outage.cut();
		assertUnknown(() -> store.tryAcquire(instances().hastyRequest(job)));
		this.outage.restore();
		assertThat(Instances.awaitRenewal(store, acquire(store, job))).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void doNotLeaveALeaseThatNobodyKnowsOf() {
		LeaseStore store = this.outage.store();
		JobId job = instances().job("billing");
		LeaseGrant kept = acquire(store, instances().job("kept"));
		this.outage.cutReplies();
		assertUnknown(() -> store.tryAcquire(instances().hastyRequest(job)));
		this.outage.restore();
		LeaseStore other = instances().open();
		Instances.await(Instances.PATIENCE).until(() -> {
			assertThat(Instances.awaitRenewal(store, kept)).isEqualTo(Renewal.EXTENDED);
			return !instances().isHeld(other, job);
		});
	}

}
