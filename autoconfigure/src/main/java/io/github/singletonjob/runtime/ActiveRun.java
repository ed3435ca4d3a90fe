package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * A run from its grant to its release, as its body and the fence see it. It is held while
 * its {@link RunLife} has no end, its deadline has not passed, and the clocks agree about
 * that.
 */
final class ActiveRun implements LeasedRun {

	private static final String STOP = ". Stop here";

	private final LeaseGrant grant;

	private final RunSettings settings;

	private final String holder;

	private final LeaseDeadline deadline;

	private final @Nullable LeasedRun enclosing;

	private final RunLife life;

	private volatile @Nullable GrantedFireTime fireTime;

	private volatile @Nullable RunReports reports;

	// Why the database, or a row, has refused a write
	private volatile @Nullable String refused;

	ActiveRun(LeaseGrant grant, RunSettings settings, String holder, LeaseDeadline deadline,
			@Nullable LeasedRun enclosing) {
		this.grant = grant;
		this.settings = settings;
		this.holder = holder;
		this.deadline = deadline;
		this.enclosing = enclosing;
		this.life = new RunLife(deadline, settings.onLost(), this::report);
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
		return isHeld() ? this.deadline.remaining() : Duration.ZERO;
	}

	@Override
	public boolean isHeld() {
		return this.life.firstEnd() == null && !this.deadline.isPassed() && this.deadline.isConfirmed();
	}

	@Override
	public void ensureHeld() {
		ensureOpen();
		RunEnd end = this.life.firstEnd();
		if (end != null) {
			throw new LeaseLostException(job(), token(), job() + ": run with token " + token() + " is to stop here: "
					+ end.reason() + ". It can still commit what it has begun, as long as its lease is held");
		}
		if (this.deadline.isPassed()) {
			throw over("its lease ended unrenewed");
		}
		if (!this.deadline.isConfirmed()) {
			throw over("the wall clock jumped ahead (a suspended machine?) and its lease is not confirmed since");
		}
	}

	@Override
	public void ensureOpen() {
		RunEnd closed = this.life.closed();
		if (closed != null) {
			throw over(closed.reason());
		}
	}

	@Override
	public boolean hasEnded() {
		return this.life.hasBodyEnded();
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

	/** Whether it is a run, or was started in it. */
	boolean isOrIsInside(LeasedRun other) {
		LeasedRun run = this;
		while (run != null && run != other) {
			run = run.enclosing().orElse(null);
		}
		return run != null;
	}

	@Override
	public void refused(StaleTokenException refusal) {
		String reason = reason(refusal);
		this.refused = reason;
		this.life.end(new RunEnd(RunOutcome.LOST, reason));
		RunReports told = this.reports;
		if (told != null) {
			told.refused(this, refusal);
		}
	}

	/**
	 * What has happened, of the message of an exception that says that this run is over.
	 */
	String reason(RuntimeException loss) {
		String message = String.valueOf(loss.getMessage());
		for (String known : new String[] { job() + ": ", isOver() }) {
			message = message.startsWith(known) ? message.substring(known.length()) : message;
		}
		int end = message.indexOf((loss instanceof StaleTokenException) ? "; " : STOP);
		return (end >= 0) ? message.substring(0, end) : message;
	}

	private String isOver() {
		return "run with token " + token() + " is over: ";
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

	RunLife life() {
		return this.life;
	}

	/** Says who is to be told of what happens to this run before its body has ended. */
	void reportTo(RunReports told) {
		this.reports = told;
	}

	private void report(RunEnd end) {
		RunReports told = this.reports;
		if (end.outcome() == RunOutcome.LOST && told != null) {
			told.lost(this, end.reason());
		}
	}

	LeaseLostException over(String reason) {
		if (reason.equals(this.refused)) {
			return new LeaseLostException(job(), token(),
					job() + ": " + reason + ". What this run has not committed is not written any more" + STOP
							+ ": another holder is at work");
		}
		return new LeaseLostException(job(), token(),
				job() + ": " + isOver() + reason + STOP + ": another holder may be at work");
	}

	@Override
	public String toString() {
		return "run of " + this.grant.job() + " with token " + token() + " on " + this.holder;
	}

}
