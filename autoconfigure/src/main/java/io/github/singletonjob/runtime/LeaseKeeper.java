package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases of this instance's runs from their grant to their release.
 * <ul>
 * <li>A {@link RenewalLane} for each timing renews in the background.</li>
 * <li>A watchdog for each run, on the timer's thread and so apart from all calls to the
 * store, ends it when its deadline passes, and asks for a renewal at once when the clocks
 * disagree.</li>
 * <li>The lease of a lost run whose body goes on is given back when its time is over,
 * since some stores would otherwise keep it for as long as this process lives.</li>
 * <li>A release whose outcome is unknown is repeated until the lease has expired by
 * itself.</li>
 * </ul>
 */
public final class LeaseKeeper {

	private static final Log logger = LogFactory.getLog(LeaseKeeper.class);

	private final LeaseStore store;

	private final Scheduling scheduling;

	private final RunListener listener;

	private final Map<LeaseTiming, RenewalLane> lanes = new ConcurrentHashMap<>();

	private final RunReports reports = new Reports();

	/**
	 * Creates a keeper.
	 * @param store renews and releases
	 * @param scheduling time and threads
	 * @param listener is told of losses
	 */
	public LeaseKeeper(LeaseStore store, Scheduling scheduling, RunListener listener) {
		this.store = store;
		this.scheduling = scheduling;
		this.listener = new CarefulRunListener(listener);
	}

	/**
	 * The leases that this instance holds and renews now.
	 * @return a copy, in no order
	 */
	public List<HeldLease> held() {
		return this.lanes.values().stream().flatMap(RenewalLane::held).map(HeldLease::of).toList();
	}

	RunListener listener() {
		return this.listener;
	}

	Scheduling scheduling() {
		return this.scheduling;
	}

	void keep(ActiveRun run) {
		run.reportTo(this.reports);
		lane(run).add(run);
		watch(run);
	}

	/**
	 * Finds out whether a run still has its lease, by a renewal that is sent from now on.
	 * It is repeated until the store answers, and until the deadline at most.
	 * @return whether the store has extended the lease; false if it is gone, and if
	 * nobody knows
	 */
	boolean confirm(ActiveRun run) {
		CompletableFuture<Boolean> confirmed = new CompletableFuture<>();
		if (run.life().firstEnd() == null) {
			CompletableFuture<Void> unused = run.life().ended().thenRun(() -> confirmed.complete(false));
		}
		Duration atMost = run.deadline().remaining();
		if (!atMost.isZero()) {
			lane(run).confirm(run, confirmed);
			await(confirmed, atMost);
		}
		confirmed.complete(false);
		return confirmed.getNow(false);
	}

	/** Waits also on a thread that is interrupted. */
	private void await(CompletableFuture<?> done, Duration atMost) {
		long begun = this.scheduling.clock().nanoTime();
		Duration left = atMost;
		boolean interrupted = false;
		while (!done.isDone() && !left.isNegative() && !left.isZero()) {
			try {
				this.scheduling.timer().await(done, left);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
			left = atMost.minusNanos(this.scheduling.clock().nanoTime() - begun);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Stops renewing, gives the lease back and records what was completed. A failure
	 * never replaces the body's own exception.
	 * @param completed the fire time that was completed, or null
	 * @return false if the lease was not ours any more
	 */
	boolean giveBack(ActiveRun run, @Nullable Instant completed, @Nullable Throwable thrown) {
		run.life().holdOn(false);
		lane(run).remove(run);
		return attempt(run, thrown, () -> {
			try {
				return this.store.release(run.grant(), completed);
			}
			catch (RuntimeException | Error ex) {
				releaseAgainLater(run, completed);
				throw ex;
			}
		});
	}

	/**
	 * Records what was completed, and holds on to the lease for some time although the
	 * body has ended.
	 * @param completed the fire time that was completed, or null
	 * @param minHold how long to hold it, from the grant on
	 * @return false if the lease was not ours any more
	 */
	boolean holdOn(ActiveRun run, @Nullable Instant completed, Duration minHold) {
		run.life().holdOn(true);
		boolean ours = completed == null || attempt(run, null, () -> this.store.complete(run.grant(), completed));
		// Not before: a release that overtakes the record makes it look like a loss
		Duration rest = minHold.minus(run.age());
		this.scheduling.after(rest, () -> this.scheduling.work(() -> giveBack(run, completed, null)));
		return ours;
	}

	private boolean attempt(ActiveRun run, @Nullable Throwable thrown, BooleanSupplier call) {
		try {
			return call.getAsBoolean();
		}
		catch (RuntimeException | Error ex) {
			logger.warn(run.job() + ": the store could not be told of the end of the run with token " + run.token()
					+ ", trying again until its lease expires by itself: " + ex.getMessage());
			if (thrown != null) {
				thrown.addSuppressed(ex);
			}
			return true;
		}
	}

	/** Reports a loss that only the release brought to light. */
	void lostAtTheEnd(ActiveRun run, String reason) {
		logger.warn(run.job() + ": run with token " + run.token() + " does not count: " + reason);
		this.scheduling.work(() -> this.listener.lost(run, reason));
	}

	private RenewalLane lane(ActiveRun run) {
		return this.lanes.computeIfAbsent(run.settings().timing(),
				(timing) -> new RenewalLane(this.store, timing, this.scheduling, this.listener));
	}

	private void watch(ActiveRun run) {
		if (!run.life().isKept()) {
			return;
		}
		LeaseDeadline deadline = run.deadline();
		if (deadline.isPassed()) {
			run.life()
				.end(new RunEnd(RunOutcome.LOST,
						"no renewal was confirmed in the last " + deadline.age().toMillis() + " ms"));
			return;
		}
		if (!deadline.isConfirmed()) {
			lane(run).renewNow();
		}
		Duration next = min(deadline.remaining(), run.settings().timing().renewEvery());
		this.scheduling.timer().after(next, () -> watch(run));
	}

	private void lost(ActiveRun run, String reason) {
		RunEnd first = run.life().firstEnd();
		boolean cancelled = first != null && first.outcome() != RunOutcome.LOST;
		logger.warn(run.job() + ": LOST the lease with token " + run.token() + ", last confirmed "
				+ run.deadline().age().toMillis() + " ms ago: " + reason + (cancelled
						? ". Its run was cancelled before, and can commit nothing any more" : ". Its body was told"));
		this.scheduling.timer().after(run.settings().timing().stopEarly(), () -> {
			if (!run.life().hasBodyEnded()) {
				this.scheduling.work(() -> this.store.release(run.grant(), null));
			}
		});
		if (!cancelled) {
			this.scheduling.work(() -> this.listener.lost(run, reason));
		}
	}

	private void releaseAgainLater(ActiveRun run, @Nullable Instant completed) {
		Duration pause = run.settings().timing().callTimeout();
		this.scheduling.timer().after(pause, () -> {
			if (run.deadline().age().compareTo(run.ttl()) < 0) {
				this.scheduling.work(() -> {
					try {
						this.store.release(run.grant(), completed);
					}
					catch (RuntimeException ex) {
						releaseAgainLater(run, completed);
					}
				});
			}
		});
	}

	private static Duration min(Duration a, Duration b) {
		return (a.compareTo(b) <= 0) ? a : b;
	}

	/** What runs tell their keeper. */
	private final class Reports implements RunReports {

		@Override
		public void lost(ActiveRun run, String reason) {
			LeaseKeeper.this.lost(run, reason);
		}

		@Override
		public void refused(ActiveRun run, StaleTokenException refusal) {
			LeaseKeeper.this.listener.refused(run, refusal);
		}

	}

}
