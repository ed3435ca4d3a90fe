package io.github.singletonjob.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * A lease that was granted, as a key that was created by us and is attached to a lease of
 * etcd. While it is there nobody else changes the record of the job, so what we know of
 * that is what it is.
 */
final class EtcdGrant implements LeaseGrant {

	private final Attempt attempt;

	private final TakeAnswer answer;

	private final SharedLease lease;

	private final Plan plan;

	private final AtomicReference<JobRecord> record;

	EtcdGrant(Attempt attempt, TakeAnswer answer, SharedLease lease, Plan plan) {
		this.attempt = attempt;
		this.answer = answer;
		this.lease = lease;
		this.plan = plan;
		this.record = new AtomicReference<>(plan.record().held(answer.token()));
	}

	@Override
	public JobId job() {
		return this.attempt.request().job();
	}

	@Override
	public String owner() {
		return this.attempt.request().owner();
	}

	@Override
	public long token() {
		return this.answer.token();
	}

	@Override
	public @Nullable GrantedFireTime fireTime() {
		return this.plan.fireTime();
	}

	@Override
	public boolean followsUnreleased() {
		return !this.plan.before().record().free();
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
		GrantedFireTime fireTime = fireTime();
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
		return job() + " with token " + token();
	}

}
