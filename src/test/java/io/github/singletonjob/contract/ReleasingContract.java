package io.github.singletonjob.contract;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Only the holder of a lease ends it.
 */
abstract class ReleasingContract {

	abstract Instances instances();

	@Test
	void freesTheJobAtOnce() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		assertThat(store.release(instances.acquire(store, job))).isTrue();
		instances.acquire(instances.open(), job);
	}

	@Test
	void canBeRepeated() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		assertThat(store.release(grant)).isTrue();
		assertThat(store.release(grant)).isFalse();
	}

	@Test
	void endsRenewal() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		store.release(grant);
		assertThat(renew(store, grant)).isEqualTo(Renewal.GONE);
		assertThat(instances.isHeld(instances.open(), grant.job())).isFalse();
	}

	@Test
	void ofALateHolderDoesNotFreeTheNextOnesLease() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		LeaseStore other = instances.open();
		LeaseGrant late = instances.acquire(store, job);
		LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(instances.request(job, "next")));
		assertThat(store.release(late)).isFalse();
		assertThat(renew(other, next)).isEqualTo(Renewal.EXTENDED);
		assertThat(instances.isHeld(instances.open(), job)).isTrue();
	}

	@Test
	void isConditionalOnTheOwner() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		assertThat(store.release(Instances.forged(grant))).isFalse();
		assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
	}

	@Test
	void worksOnAnInterruptedThreadAndKeepsTheInterrupt() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		Thread.currentThread().interrupt();
		boolean released = store.release(grant);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(released).isTrue();
		assertThat(instances.isHeld(instances.open(), grant.job())).isFalse();
	}

}
