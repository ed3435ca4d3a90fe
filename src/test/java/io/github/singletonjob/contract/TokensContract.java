package io.github.singletonjob.contract;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No token is given out twice, and none goes down.
 */
abstract class TokensContract {

	abstract Instances instances();

	@Test
	void goUpFromGrantToGrant() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		List<LeaseStore> stores = List.of(instances.open(), instances.open());
		List<Long> tokens = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			LeaseStore store = stores.get(i % 2);
			LeaseGrant grant = instances.acquire(store, job);
			tokens.add(grant.token());
			store.release(grant);
		}
		assertThat(tokens).as("wrong data: tokens").doesNotHaveDuplicates().isSorted();
	}

	@Test
	void goUpWhenALeaseExpires() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore other = instances.open();
		LeaseGrant late = instances.acquire(instances.open(), job);
		LeaseGrant next = Instances.awaitGrant(() -> other.tryAcquire(instances.request(job, "next")));
		assertThat(next.token()).isGreaterThan(late.token());
	}

	@Test
	void liesAboveTheFloorOfTheRequest() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		long floor = System.currentTimeMillis() + 1_000_000_000;
		LeaseGrant first = instances.acquire(store, instances.request(job, "somebody", floor));
		assertThat(first.token()).isGreaterThan(floor);
		store.release(first);
		LeaseGrant second = instances.acquire(store, instances.request(job, "somebody", floor * 2));
		assertThat(second.token()).isGreaterThan(floor * 2);
		store.release(second);
		LeaseGrant third = instances.acquire(store, instances.request(job, "somebody", floor));
		assertThat(third.token()).isGreaterThan(second.token());
	}

}
