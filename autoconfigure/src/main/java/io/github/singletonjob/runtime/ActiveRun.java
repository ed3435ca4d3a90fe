package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * A run from its grant to its release. It is held until the first of: lost, cancelled, or
 * its body has ended. That first end stays: a run that was lost before its body ended can
 * never end as completed.
 */
final class ActiveRun implements LeasedRun {

	private final LeaseGrant grant;

	private final RunSettings settings;

	private final String holder;

	private final LeaseDeadline deadline;

	private final @Nullable LeasedRun enclosing;

	private final InterruptGate gate = new InterruptGate();

	private final AtomicReference<@Nullable RunEnd> end = new AtomicReference<>();

	private final CompletableFuture<RunEnd> ended = new CompletableFuture<>();

	private volatile @Nullable GrantedFireTime fireTime;

	private volatile boolean bodyEnded;

	private volatile boolean heldOn;

	private volatile @Nullable Reports reports;

	ActiveRun(LeaseGrant grant, RunSettings settings, String holder, LeaseDeadline deadline,
			@Nullable LeasedRun enclosing) {
		this.grant = grant;
		this.settings = settings;
		this.holder = holder;
		this.deadline = deadline;
		this.enclosing = enclosing;
		this.fireTime = grant.fireTime();
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
		return this.holder;
	}

	@Override
	public Optional<Instant> fireTime() {
		return Optional.ofNullable(this.fireTime).map(GrantedFireTime::instant);
	}

	@Override
	public boolean isTakeover() {
		GrantedFireTime granted = this.fireTime;
		return granted != null && granted.takeover();
	}

	@Override
	public Duration remaining() {
		return (this.end.get() == null) ? this.deadline.remaining() : Duration.ZERO;
	}

	@Override
	public boolean isHeld() {
		return this.end.get() == null && !this.deadline.isPassed() && this.deadline.isConfirmed();
	}

	@Override
	public void ensureHeld() {
		ensureOpen();
		if (this.deadline.isPassed()) {
			throw over("its lease ended unrenewed");
		}
		if (!this.deadline.isConfirmed()) {
			throw over("the wall clock jumped ahead (a suspended machine?) and its lease is not confirmed since");
		}
	}

	@Override
	public void ensureOpen() {
		RunEnd ended = this.end.get();
		if (ended != null) {
			throw over(ended.reason());
		}
	}

	@Override
	public IdempotencyKey idempotencyKey(Object... work) {
		if (work.length == 0) {
			throw new IllegalArgumentException("An idempotency key needs at least one part that identifies the work");
		}
		JobId job = this.grant.job();
		return IdempotencyKey.of(Stream.concat(Stream.of(job.namespace(), job.name()), Stream.of(work)).toArray());
	}

	@Override
	public LeaseGrant grant() {
		return this.grant;
	}

	@Override
	public Duration ttl() {
		return this.settings.timing().ttl();
	}

	@Override
	public boolean allowsAutocommit() {
		return this.settings.allowsAutocommit();
	}

	@Override
	public Optional<LeasedRun> enclosing() {
		return Optional.ofNullable(this.enclosing);
	}

	@Override
	public void refused(StaleTokenException refusal) {
		end(new RunEnd(RunOutcome.LOST, "a write was refused: " + refusal.getMessage()));
		Reports told = this.reports;
		if (told != null) {
			told.refused(this, refusal);
		}
	}

	@Nullable GrantedFireTime grantedFireTime() {
		return this.fireTime;
	}

	/** The guarded database knows better than the store what is to be run. */
	void standFor(@Nullable GrantedFireTime fireTime) {
		this.fireTime = fireTime;
	}

	/** The time since the lease was granted. */
	Duration age() {
		return this.deadline.sinceGrant();
	}

	RunSettings settings() {
		return this.settings;
	}

	LeaseDeadline deadline() {
		return this.deadline;
	}

	/** Says who is to be told of what happens to this run before its body has ended. */
	void reportTo(Reports told) {
		this.reports = told;
	}

	/** Ends the run unless it has ended already, and tells its thread. */
	boolean end(RunEnd reason) {
		if (!this.end.compareAndSet(null, reason)) {
			return false;
		}
		if (this.settings.onLost() == OnLost.INTERRUPT) {
			this.gate.interrupt();
		}
		this.ended.complete(reason);
		Reports told = this.reports;
		if (reason.outcome() == RunOutcome.LOST && told != null) {
			told.lost(this, reason.reason());
		}
		return true;
	}

	/** Completed when the run ends, on the thread that ends it. */
	CompletableFuture<RunEnd> ended() {
		return this.ended;
	}

	/** Whether the lease is to be renewed, although the body has ended. */
	void holdOn(boolean on) {
		this.heldOn = on;
	}

	/** Whether the lease is to be renewed: also for a cancelled body that still runs. */
	boolean isKept() {
		RunEnd ended = this.end.get();
		return (!this.bodyEnded || this.heldOn) && (ended == null || ended.outcome() != RunOutcome.LOST);
	}

	/** Whether the thread of the body was interrupted, and still executes the body. */
	boolean isInterrupted() {
		return this.gate.isInterrupted();
	}

	boolean hasBodyEnded() {
		return this.bodyEnded;
	}

	/** Lets no interrupt through to the calling thread any more; the body goes on. */
	boolean leaveThread() {
		return this.gate.close();
	}

	void beginBody() {
		this.gate.open();
		RunEnd ended = this.end.get();
		if (ended != null && this.settings.onLost() == OnLost.INTERRUPT) {
			this.gate.interrupt();
		}
	}

	/**
	 * Closes the run for interrupts and for commits.
	 * @param natural how it ends if nothing has ended it before
	 * @return how it ended, and whether its thread was interrupted by us
	 */
	BodyEnd endBody(RunOutcome natural) {
		if (this.deadline.isPassed()) {
			end(new RunEnd(RunOutcome.LOST, "its lease ended unrenewed before the body did"));
		}
		boolean interrupted = this.gate.close();
		RunEnd byBody = new RunEnd(natural, "it has ended (" + natural + ")");
		boolean byItself = this.end.compareAndSet(null, byBody);
		if (byItself) {
			this.ended.complete(byBody);
		}
		this.bodyEnded = true;
		RunEnd ended = Objects.requireNonNull(this.end.get());
		return new BodyEnd(ended, byItself, interrupted);
	}

	LeaseLostException over(String reason) {
		return new LeaseLostException(job(), token(), job() + ": run with token " + token() + " is over: " + reason
				+ ". Stop here: another holder may be at work");
	}

	@Override
	public String toString() {
		return "run of " + this.grant.job() + " with token " + token() + " on " + this.holder;
	}

	/** Is told on the thread that noticed; must not block. */
	interface Reports {

		/** The run is lost; told once. */
		void lost(ActiveRun run, String reason);

		/** The guarded database has refused a write; told each time. */
		void refused(ActiveRun run, StaleTokenException refusal);

	}

}
