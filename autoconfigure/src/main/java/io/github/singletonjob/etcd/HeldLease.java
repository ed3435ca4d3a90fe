package io.github.singletonjob.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * What the store keeps of a lease that it has granted: a key that was created by us and
 * is attached to a lease of etcd. While it is there nobody else changes the record of the
 * job, so what we know of that is what it is.
 */
final class HeldLease {

	private final LeaseGrant grant;

	private final Attempt attempt;

	private final TakeAnswer answer;

	private final SharedLease lease;

	private final AtomicReference<JobRecord> record;

	HeldLease(Attempt attempt, TakeAnswer answer, SharedLease lease, Plan plan) {
		this.attempt = attempt;
		this.answer = answer;
		this.lease = lease;
		this.grant = new LeaseGrant(attempt.request(), answer.token(), plan.fireTime(), !plan.before().record().free());
		this.record = new AtomicReference<>(plan.record().held(answer.token()));
	}

	LeaseGrant grant() {
		return this.grant;
	}

	Attempt attempt() {
		return this.attempt;
	}

	long createRevision() {
		return this.answer.createRevision();
	}

	/** What the key is attached to. */
	SharedLease lease() {
		return this.lease;
	}

	String key() {
		return this.attempt.key();
	}

	Duration callTimeout() {
		return this.attempt.request().callTimeout();
	}

	/**
	 * The run has completed this. Kept here before it is sent: whatever becomes of that,
	 * the next record says it, too.
	 */
	void complete(@Nullable Instant completed) {
		GrantedFireTime fireTime = this.grant.fireTime();
		if (fireTime != null && completed != null) {
			String schedule = fireTime.schedule();
			this.record.updateAndGet((last) -> last.with(schedule, last.of(schedule).complete(completed)));
		}
	}

	/** The record of the job as it is while this is held. */
	JobRecord record() {
		return Objects.requireNonNull(this.record.get());
	}

	@Override
	public String toString() {
		return this.grant.toString();
	}

}
