package io.github.singletonjob.contract;

import java.util.List;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import org.junit.jupiter.api.Test;

import static io.github.singletonjob.contract.Instances.renew;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease lasts while it is renewed, and is not made anew.
 */
abstract class RenewingContract {

	abstract Instances instances();

	@Test
	void keepsALeaseBeyondItsTimeToLive() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		LeaseStore other = instances.open();
		LeaseGrant grant = instances.acquire(store, job);
		long start = System.nanoTime();
		Instances.await(Instances.PATIENCE).pollInterval(instances.ttl().dividedBy(5)).until(() -> {
			assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
			assertThat(instances.isHeld(other, job)).isTrue();
			return Instances.since(start).compareTo(instances.ttl().multipliedBy(2)) > 0;
		});
	}

	@Test
	void answersForEachLeaseInOrder() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant first = instances.acquire(store, instances.job("first"));
		LeaseGrant second = instances.acquire(store, instances.job("second"));
		LeaseGrant third = instances.acquire(store, instances.job("third"));
		store.release(second);
		assertThat(store.renew(List.of(first, second, third))).containsExactly(Renewal.EXTENDED, Renewal.GONE,
				Renewal.EXTENDED);
		assertThat(store.renew(List.of(third, first))).containsExactly(Renewal.EXTENDED, Renewal.EXTENDED);
	}

	@Test
	void doesNotReviveALeaseThatIsOver() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		LeaseStore other = instances.open();
		LeaseGrant late = instances.acquire(store, job);
		instances.awaitExpiry(other, job);
		assertThat(renew(store, late)).isEqualTo(Renewal.GONE);
		assertThat(renew(store, late)).isEqualTo(Renewal.GONE);
	}

	@Test
	void doesNotTakeALeaseFromItsNextHolder() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		LeaseStore other = instances.open();
		LeaseGrant late = instances.acquire(store, job);
		LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(instances.request(job, "next")));
		assertThat(renew(store, late)).isEqualTo(Renewal.GONE);
		assertThat(renew(other, next)).isEqualTo(Renewal.EXTENDED);
		assertThat(instances.isHeld(store, job)).isTrue();
	}

	@Test
	void isConditionalOnTheOwner() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, instances.job("billing"));
		assertThat(renew(store, Instances.forged(grant))).isEqualTo(Renewal.GONE);
		assertThat(renew(store, grant)).isEqualTo(Renewal.EXTENDED);
	}

}
