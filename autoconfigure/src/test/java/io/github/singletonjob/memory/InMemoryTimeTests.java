package io.github.singletonjob.memory;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.Renewal;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The in-memory store on a clock that the test moves, and leases that it takes away.
 */
class InMemoryTimeTests {

	private static final Duration TTL = Duration.ofSeconds(10);

	private static final JobId BILLING = new JobId("shop", "billing");

	/** Near its end: nanoseconds have no origin and may overflow. */
	private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(5).toNanos());

	private final InMemoryLeaseStore store = new InMemoryLeaseStore(this.now::get);

	private Acquisition ask(JobId job, String owner) {
		return this.store.tryAcquire(new LeaseRequest(job, owner, "holder of " + owner, TTL, Duration.ofSeconds(1), 0));
	}

	private LeaseGrant acquire(JobId job, String owner) {
		return ((Acquisition.Acquired) ask(job, owner)).grant();
	}

	private void advance(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	@Test
	void aLeaseLastsForItsTimeToLiveAndNotLonger() {
		LeaseGrant first = acquire(BILLING, "a");
		advance(TTL.minusNanos(1));
		assertThat(ask(BILLING, "b")).isEqualTo(new Acquisition.Held("holder of a"));
		advance(Duration.ofNanos(1));
		assertThat(this.store.renew(List.of(first))).containsExactly(Renewal.GONE);
		assertThat(this.store.release(first)).isFalse();
		assertThat(acquire(BILLING, "b").token()).isEqualTo(first.token() + 1);
	}

	@Test
	void aRenewalLastsForTheTimeToLiveFromNow() {
		LeaseGrant grant = acquire(BILLING, "a");
		for (int i = 0; i < 5; i++) {
			advance(TTL.minusNanos(1));
			assertThat(this.store.renew(List.of(grant))).containsExactly(Renewal.EXTENDED);
		}
		advance(TTL);
		assertThat(this.store.renew(List.of(grant))).containsExactly(Renewal.GONE);
	}

	@Test
	void aTestCanTakeALeaseAway() {
		LeaseGrant billing = acquire(BILLING, "a");
		LeaseGrant elsewhere = acquire(new JobId("other", "billing"), "b");
		LeaseGrant reminders = acquire(new JobId("shop", "reminders"), "c");
		assertThat(this.store.lose("billing")).isTrue();
		assertThat(this.store.renew(List.of(billing, elsewhere, reminders))).containsExactly(Renewal.GONE, Renewal.GONE,
				Renewal.EXTENDED);
		assertThat(this.store.lose("billing")).isFalse();
		assertThat(acquire(BILLING, "d").token()).isGreaterThan(billing.token());
	}

	@Test
	void theFirstTokenIsTheTime() {
		long before = System.currentTimeMillis();
		assertThat(acquire(BILLING, "a").token()).isBetween(before, System.currentTimeMillis());
	}

}
