package io.github.singletonjob.contract;

import java.time.Duration;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An operator takes a lease away by its token, on any instance.
 */
abstract class RevokingContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	abstract Instances instances();

	@Test
	void isSeenByTheHoldersNextRenewalAndThenTheJobIsFree() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore holder = instances.open();
		LeaseStore operator = instances.open();
		LeaseGrant grant = instances.acquire(holder, job);
		assertThat(operator.revoke(job, grant.token(), TIMEOUT)).isTrue();
		assertThat(renew(holder, grant)).isEqualTo(Renewal.GONE);
		LeaseGrant next = Instances.awaitGrant(() -> operator.tryAcquire(instances.request(job, "next")));
		assertThat(next.token()).isGreaterThan(grant.token());
		assertThat(next.followsUnreleased()).isTrue();
	}

	@Test
	void leavesALeaseOfAnotherTokenAlone() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore holder = instances.open();
		LeaseGrant grant = instances.acquire(holder, job);
		assertThat(instances.open().revoke(job, grant.token() - 1, TIMEOUT)).isFalse();
		assertThat(renew(holder, grant)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void doesNothingToAJobThatNobodyHolds() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		assertThat(store.revoke(job, 1, TIMEOUT)).isFalse();
		LeaseGrant grant = instances.acquire(store, job);
		store.release(grant);
		assertThat(store.revoke(job, grant.token(), TIMEOUT)).isFalse();
	}

}
