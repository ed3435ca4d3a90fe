package io.github.singletonjob.contract;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseWatch;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance that stands by is told when the lease has become free.
 */
abstract class WatchingContract {

	/** How much later than another a watch could be told of the same release. */
	private static final Duration QUIET = Duration.ofMillis(300);

	abstract Instances instances();

	@Test
	void aReleaseWakesWhoStandsBy() {
		JobId job = instances().job("billing");
		LeaseStore holder = instances().open();
		LeaseStore other = instances().open();
		LeaseGrant grant = instances().acquire(holder, job);
		AtomicInteger woken = new AtomicInteger();
		try (LeaseWatch watch = other.watch(job, instances().ttl(), woken::incrementAndGet)) {
			keepUntilNoMoreIsHeard(holder, grant, woken);
			int before = woken.get();
			holder.release(grant, null);
			Instances.await(Instances.PATIENCE).until(() -> woken.get() > before);
		}
	}

	@Test
	void aWatchThatWasClosedHearsNothing() {
		JobId job = instances().job("billing");
		LeaseStore holder = instances().open();
		LeaseStore other = instances().open();
		LeaseGrant grant = instances().acquire(holder, job);
		AtomicInteger closed = new AtomicInteger();
		AtomicInteger open = new AtomicInteger();
		LeaseWatch watch = other.watch(job, instances().ttl(), closed::incrementAndGet);
		try (LeaseWatch another = instances().open().watch(job, instances().ttl(), open::incrementAndGet)) {
			watch.close();
			watch.close();
			keepUntilNoMoreIsHeard(holder, grant, open);
			int before = open.get();
			int heard = closed.get();
			holder.release(grant, null);
			Instances.await(Instances.PATIENCE).until(() -> open.get() > before);
			// Who is told first is not said
			Instances.await(Instances.PATIENCE).during(QUIET).until(() -> closed.get() == heard);
		}
	}

	@Test
	void aWatchLeavesTheLeaseAlone() {
		JobId job = instances().job("billing");
		LeaseStore holder = instances().open();
		LeaseStore other = instances().open();
		LeaseGrant grant = instances().acquire(holder, job);
		try (LeaseWatch watch = other.watch(job, instances().ttl(), () -> {
		})) {
			assertThat(instances().isHeld(other, job)).isTrue();
			assertThat(holder.release(grant, null)).isTrue();
			instances().acquire(instances().open(), job);
		}
	}

	/**
	 * Wakings for nothing are allowed: waits until none came for some renewals, so that
	 * the next one is known to be of the release.
	 */
	private void keepUntilNoMoreIsHeard(LeaseStore holder, LeaseGrant grant, AtomicInteger woken) {
		Duration quiet = instances().ttl().dividedBy(3);
		AtomicInteger heard = new AtomicInteger(-1);
		Instances.await(Instances.PATIENCE).pollInterval(quiet).until(() -> {
			Instances.renew(holder, grant);
			return heard.getAndSet(woken.get()) == woken.get();
		});
	}

}
