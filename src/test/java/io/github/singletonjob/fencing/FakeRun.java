package io.github.singletonjob.fencing;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeasedRun;

/**
 * A run whose lease is whatever the test says.
 */
final class FakeRun implements LeasedRun {

	private final LeaseGrant grant;

	private final AtomicReference<String> over = new AtomicReference<>();

	private final AtomicReference<StaleTokenException> refusal = new AtomicReference<>();

	private Duration ttl = Duration.ofSeconds(10);

	private boolean autocommit;

	private volatile boolean ended;

	private LeasedRun enclosing;

	FakeRun(String job, long token) {
		this.grant = grant(new JobId("shop", job), token, null);
	}

	static LeaseGrant grant(JobId job, long token, GrantedFireTime fireTime) {
		LeaseRequest request = new LeaseRequest(job, "owner-" + token, "holder", Duration.ofSeconds(10),
				Duration.ofSeconds(5), 0);
		return new LeaseGrant(request, token, fireTime, false);
	}

	FakeRun ttl(Duration ttl) {
		this.ttl = ttl;
		return this;
	}

	FakeRun allowAutocommit() {
		this.autocommit = true;
		return this;
	}

	FakeRun inside(LeasedRun enclosing) {
		this.enclosing = enclosing;
		return this;
	}

	/** What the runtime does when the lease is lost or the run has ended. */
	FakeRun close(String reason) {
		this.over.set(reason);
		return this;
	}

	/** What the runtime does when the body has ended. */
	FakeRun end() {
		this.ended = true;
		return close("ended");
	}

	StaleTokenException refusal() {
		return this.refusal.get();
	}

	@Override
	public LeaseGrant grant() {
		return this.grant;
	}

	@Override
	public Duration ttl() {
		return this.ttl;
	}

	@Override
	public boolean allowsAutocommit() {
		return this.autocommit;
	}

	@Override
	public Optional<LeasedRun> enclosing() {
		return Optional.ofNullable(this.enclosing);
	}

	@Override
	public void ensureOpen() {
		if (this.over.get() != null) {
			throw new LeaseLostException(job(), token(), this.over.get());
		}
	}

	@Override
	public boolean hasEnded() {
		return this.ended;
	}

	@Override
	public void refused(StaleTokenException refusal) {
		this.refusal.compareAndSet(null, refusal);
		this.over.compareAndSet(null, "refused");
	}

	@Override
	public String job() {
		return this.grant.job().name();
	}

	@Override
	public long token() {
		return this.grant.token();
	}

	@Override
	public String holder() {
		return "holder-" + token();
	}

	@Override
	public Optional<Instant> fireTime() {
		return Optional.empty();
	}

	@Override
	public boolean isTakeover() {
		return false;
	}

	@Override
	public Duration remaining() {
		return isHeld() ? this.ttl : Duration.ZERO;
	}

	@Override
	public boolean isHeld() {
		return this.over.get() == null;
	}

	@Override
	public void ensureHeld() {
		ensureOpen();
	}

	@Override
	public IdempotencyKey idempotencyKey(Object... work) {
		return IdempotencyKey.of(work);
	}

}
