package io.github.singletonjob.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One holder at a time.
 */
abstract class ExclusionContract {

	abstract Instances instances();

	@Test
	void oneOfManyInstancesGetsTheLease() throws Exception {
		JobId job = instances().job("billing");
		List<Callable<Acquisition>> attempts = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			LeaseStore store = instances().open();
			LeaseRequest request = instances().request(job, "instance " + i);
			attempts.add(() -> store.tryAcquire(request));
		}
		List<Acquisition> answers = atOnce(attempts);
		assertThat(answers).filteredOn((answer) -> answer instanceof Acquisition.Acquired).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer instanceof Acquisition.Held).hasSize(7);
	}

	@Test
	void theOthersAreToldWhoHasIt() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		instances.acquire(instances.open(), instances.request(job, "billing-1:4711"));
		assertThat(instances.open().tryAcquire(instances.request(job, "billing-2:12")))
			.isEqualTo(new Acquisition.Held("billing-1:4711"));
	}

	@Test
	void anInstanceIsRefusedWhatItHoldsItself() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore store = instances.open();
		LeaseGrant grant = instances.acquire(store, job);
		assertThat(instances.isHeld(store, job)).isTrue();
		assertThat(store.release(grant)).isTrue();
		assertThat(instances.isHeld(instances.open(), job)).isFalse();
	}

	@Test
	void theSameRequestIsGrantedTheSameAgain() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		LeaseRequest request = instances.request(instances.job("billing"), "billing-1");
		LeaseGrant first = instances.acquire(store, request);
		LeaseGrant again = instances.acquire(store, request);
		assertThat(again.token()).isEqualTo(first.token());
		assertThat(again.owner()).isEqualTo(first.owner());
		assertThat(store.release(again)).isTrue();
		assertThat(instances.isHeld(instances.open(), request.job())).isFalse();
	}

	@Test
	void jobsDoNotExcludeEachOther() {
		Instances instances = instances();
		LeaseStore store = instances.open();
		instances.acquire(store, instances.job("billing"));
		instances.acquire(store, instances.job("reminders"));
		instances.acquire(store, new JobId(instances.job("billing").namespace() + "2", "billing"));
	}

	@Test
	void aSilentHolderIsReplacedWhenItsTimeIsOver() {
		Instances instances = instances();
		JobId job = instances.job("billing");
		LeaseStore other = instances.open();
		long start = System.nanoTime();
		instances.acquire(instances.open(), job);
		long granted = System.nanoTime();
		instances.awaitExpiry(other, job);
		assertThat(Instances.since(start)).isGreaterThanOrEqualTo(instances.ttl());
		assertThat(Instances.since(granted)).isLessThan(instances.ttl().plus(instances.traits().expiresLate()));
	}

	private List<Acquisition> atOnce(List<Callable<Acquisition>> attempts) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(attempts.size());
		try {
			List<Acquisition> answers = new ArrayList<>();
			for (Future<Acquisition> answer : threads.invokeAll(attempts)) {
				answers.add(answer.get());
			}
			return answers;
		}
		finally {
			threads.shutdownNow();
		}
	}

}
