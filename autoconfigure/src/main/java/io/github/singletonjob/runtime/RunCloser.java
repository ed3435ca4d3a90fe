package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Fence.Completion;
import io.github.singletonjob.lease.GrantedFireTime;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What lies after the body: the run is closed for interrupts, the lease of a failed one
 * is confirmed, the run is closed for commits, what it completed is recorded, in the
 * guarded database first, and only then the lease is given back. A run that was lost,
 * refused or cancelled before its body ended is never recorded as completed. Nothing that
 * happens here replaces the body's result or its exception. A body that does not end,
 * long after its limit, is not waited for.
 */
final class RunCloser {

	private static final Log logger = LogFactory.getLog(RunCloser.class);

	private static final String NOT_ITS_OWN = "its lease was not its own any more when it was given back";

	private final @Nullable Fence fence;

	private final LeaseKeeper keeper;

	RunCloser(@Nullable Fence fence, LeaseKeeper keeper) {
		this.fence = fence;
		this.keeper = keeper;
	}

	/**
	 * Cancels a run that exceeds its limit. If its body goes on for another time to live,
	 * the end of the run is recorded all the same, and its lease is given up; it can
	 * commit until shortly before that.
	 * @return takes the limit back
	 */
	Runnable limit(ActiveRun run, Duration maxRun) {
		RunEnd end = new RunEnd(RunOutcome.FAILED,
				"it has run for longer than its max-run of " + maxRun.toSeconds() + " s");
		Scheduling scheduling = this.keeper.scheduling();
		return scheduling.after(maxRun, () -> {
			if (!run.life().hasBodyEnded() && run.life().end(end)) {
				logger.warn(run.job() + ": run with token " + run.token() + " is cancelled: " + end.reason());
				scheduling.timer().after(run.settings().timing().reliable(), () -> {
					boolean unused = run.life().close(end);
				});
				scheduling.timer().after(run.ttl(), () -> giveUp(run, end));
			}
		});
	}

	private void giveUp(ActiveRun run, RunEnd end) {
		if (!run.life().hasBodyEnded()) {
			logger.warn(run.job() + ": the body of the run with token " + run.token()
					+ " does not end although it was cancelled; its lease is given up");
			boolean unused = run.life().close(end);
			this.keeper.scheduling().work(() -> record(run, end, null, this.keeper.confirm(run)));
		}
	}

	RunResult close(ActiveRun run, @Nullable Throwable thrown) {
		// Recording can take longer than a lease lasts
		run.life().holdOn(true);
		boolean interruptedByUs = run.life().closeForInterrupts();
		boolean interrupted = Thread.interrupted();
		boolean counts = !hasFailed(run, thrown) || isConfirmed(run);
		BodyEnd end = run.life().endBody((thrown == null) ? RunOutcome.COMPLETED : RunOutcome.FAILED);
		RunEnd outcome = end.run();
		String reason = record(run, outcome, thrown, counts);
		if (reason != null && end.byItself()) {
			outcome = new RunEnd(RunOutcome.LOST, reason);
			this.keeper.lostAtTheEnd(run, reason);
		}
		if (logger.isDebugEnabled()) {
			logger.debug(run.job() + ": run with token " + run.token() + " ends: " + outcome.outcome());
		}
		if (run.life().hasLeftThread() ? interrupted : isForeign(interrupted, interruptedByUs, run, thrown)) {
			Thread.currentThread().interrupt();
		}
		boolean byItself = end.byItself() && outcome.outcome() != RunOutcome.LOST;
		Throwable failure = byItself ? thrown : over(run, outcome, thrown);
		return new RunResult(outcome.outcome(), run.token(), run.fireTime().orElse(null), failure);
	}

	/** Whether the run is about to count as failed. */
	private static boolean hasFailed(ActiveRun run, @Nullable Throwable thrown) {
		RunEnd first = run.life().firstEnd();
		return (first != null) ? first.outcome() == RunOutcome.FAILED : thrown != null;
	}

	/**
	 * A body can throw because the lease has gone, before anybody else notices that. So a
	 * failure counts only if the store extends the lease after it.
	 */
	private boolean isConfirmed(ActiveRun run) {
		boolean confirmed = this.keeper.confirm(run);
		if (!confirmed) {
			run.life()
				.end(new RunEnd(RunOutcome.LOST,
						"its body failed, and the store did not confirm afterwards that the lease was still held"));
		}
		return confirmed;
	}

	/** Whether the thread of the body was interrupted by others than this run. */
	private static boolean isForeign(boolean interrupted, boolean interruptedByUs, ActiveRun run,
			@Nullable Throwable thrown) {
		// The interrupt that both runs were told by can have been taken by the inner one
		return EnclosingRuns.isAnyInterrupted(run)
				|| (!interruptedByUs && (interrupted || thrown instanceof InterruptedException));
	}

	/**
	 * Records what was completed, and gives the lease back.
	 * @param counts whether the end of the body may be recorded
	 * @return why the run turns out to be lost, or null
	 */
	private @Nullable String record(ActiveRun run, RunEnd end, @Nullable Throwable thrown, boolean counts) {
		boolean failed = end.outcome() == RunOutcome.FAILED;
		boolean completed = counts && (failed || end.outcome() == RunOutcome.COMPLETED);
		Completion known = completed ? completeInDatabase(run, failed, thrown) : Completion.NOT_KEPT;
		if (known == Completion.REFUSED || (known == null && failed)) {
			this.keeper.giveBack(run, null, thrown);
			return (known != null) ? NOT_ITS_OWN
					: "its body failed, and the guarded database did not answer afterwards";
		}
		// What the database has recorded is not repeated, so it must not be called lost
		return (giveBack(run, completed, thrown) || known == Completion.RECORDED) ? null : NOT_ITS_OWN;
	}

	private boolean giveBack(ActiveRun run, boolean completed, @Nullable Throwable thrown) {
		Instant fireTime = completed ? run.fireTime().orElse(null) : null;
		Duration minHold = run.settings().length().minHold();
		if (completed && minHold != null && run.age().compareTo(minHold) < 0) {
			return this.keeper.holdOn(run, fireTime, minHold);
		}
		return this.keeper.giveBack(run, fireTime, thrown);
	}

	/** Answers null if the database has not answered. */
	private @Nullable Completion completeInDatabase(ActiveRun run, boolean failed, @Nullable Throwable thrown) {
		GrantedFireTime fireTime = run.grantedFireTime();
		if (this.fence == null || fireTime == null) {
			return Completion.NOT_KEPT;
		}
		try {
			return this.fence.complete(run.grant(), fireTime, run.ttl());
		}
		catch (RuntimeException | Error ex) {
			logger.warn(run.job() + ": the guarded database could not be told that " + fireTime.instant() + " has run; "
					+ (failed ? "it stays open, because its body failed: " : "the store remembers it: ")
					+ ex.getMessage());
			if (thrown != null) {
				thrown.addSuppressed(ex);
			}
			return null;
		}
	}

	/**
	 * What a caller of a lost or cancelled run gets, whatever its body made of it: an
	 * exception that says so, with the body's own as its cause.
	 */
	private static Throwable over(ActiveRun run, RunEnd outcome, @Nullable Throwable thrown) {
		if (thrown instanceof LeaseLostException || thrown instanceof StaleTokenException) {
			return thrown;
		}
		LeaseLostException over = run.over(outcome.reason());
		if (thrown != null) {
			over.initCause(thrown);
		}
		return over;
	}

}
