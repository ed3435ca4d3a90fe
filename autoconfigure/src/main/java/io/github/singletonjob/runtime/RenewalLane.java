package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.runtime.JobClock.Moment;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Renews all leases of one timing together, in one call to the store at a time. Between
 * calls it waits for the renewal period, after a failure for a fraction of a call's
 * time-out, spread at random. It never ends because of an exception: whether a lease is
 * lost is for its deadline to say.
 */
final class RenewalLane {

	private static final Log logger = LogFactory.getLog(RenewalLane.class);

	private static final Duration MIN_RETRY = Duration.ofMillis(10);

	private final LeaseStore store;

	private final LeaseTiming timing;

	private final Scheduling scheduling;

	private final RunListener listener;

	private final RenewalWatch watch;

	private final Set<ActiveRun> runs = ConcurrentHashMap.newKeySet();

	private final Queue<Confirmation> awaited = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean calling = new AtomicBoolean();

	private final ReentrantLock ticking = new ReentrantLock();

	// Only the tick with this number counts; 0 if none is pending
	private long pendingTick;

	private long ticks;

	private volatile boolean failing;

	RenewalLane(LeaseStore store, LeaseTiming timing, Scheduling scheduling, RunListener listener) {
		this.store = store;
		this.timing = timing;
		this.scheduling = scheduling;
		this.listener = listener;
		this.watch = new RenewalWatch(scheduling.clock(), timing, new GarbageCollections());
	}

	/** The runs whose leases are renewed. */
	Stream<ActiveRun> held() {
		return this.runs.stream().filter((run) -> run.life().isKept());
	}

	void add(ActiveRun run) {
		this.runs.add(run);
		tickUnlessPlanned();
	}

	void remove(ActiveRun run) {
		this.runs.remove(run);
		answer(this.awaited, run, false);
	}

	/**
	 * Renews the lease of a run as soon as possible.
	 * @param confirmed is completed with whether the store has extended it by a renewal
	 * that was sent from now on; not completed while that is unknown
	 */
	void confirm(ActiveRun run, CompletableFuture<Boolean> confirmed) {
		Confirmation confirmation = new Confirmation(run, confirmed);
		this.awaited.add(confirmation);
		CompletableFuture<Boolean> unused = confirmed.whenComplete((ours, none) -> this.awaited.remove(confirmation));
		renewNow();
	}

	private static void answer(Collection<Confirmation> waiting, ActiveRun run, boolean extended) {
		waiting.stream()
			.filter((confirmation) -> confirmation.run() == run)
			.forEach((confirmation) -> confirmation.extended().complete(extended));
	}

	/** Starts a renewal at once, unless one is on its way. */
	void renewNow() {
		if (this.calling.compareAndSet(false, true)) {
			try {
				this.scheduling.workers().execute(this::renewAll);
			}
			catch (RuntimeException | Error ex) {
				logger.warn("Renewal could not start: " + ex);
				this.calling.set(false);
				tickAfter(atLeast(retryDelay()));
			}
		}
	}

	/** Whoever renews at this moment will plan one. */
	private void tickUnlessPlanned() {
		Moment now = this.scheduling.clock().now();
		this.ticking.lock();
		try {
			if (this.pendingTick == 0 && !this.calling.get()) {
				plan(now, this.timing.renewEvery());
			}
		}
		finally {
			this.ticking.unlock();
		}
	}

	private void tickAfter(Duration delay) {
		Moment now = this.scheduling.clock().now();
		this.ticking.lock();
		try {
			plan(now, delay);
		}
		finally {
			this.ticking.unlock();
		}
	}

	private void plan(Moment now, Duration delay) {
		this.ticks++;
		long number = this.ticks;
		this.pendingTick = number;
		this.watch.planned(now, delay);
		this.scheduling.timer().after(delay, () -> tick(number));
	}

	private void tick(long number) {
		this.ticking.lock();
		try {
			if (this.pendingTick != number) {
				return;
			}
			this.pendingTick = 0;
		}
		finally {
			this.ticking.unlock();
		}
		due();
	}

	private void due() {
		ActiveRun any = this.runs.stream().findFirst().orElse(null);
		this.runs.removeIf((run) -> !run.life().isKept());
		if (!this.runs.isEmpty()) {
			renewNow();
		}
		else if (any != null) {
			// Perhaps just because this comes so late
			this.watch.begins(any.job());
		}
	}

	private void renewAll() {
		boolean renewed = false;
		long begun = this.scheduling.clock().nanoTime();
		try {
			List<ActiveRun> due = held().toList();
			due.stream().findFirst().ifPresent((run) -> this.watch.begins(run.job()));
			renewed = due.isEmpty() || renew(due);
		}
		catch (Throwable ex) {
			this.runs.stream().findAny().ifPresent((run) -> report(run, String.valueOf(ex.getMessage()), ex));
		}
		finally {
			this.calling.set(false);
			// From before the call on, as the deadlines
			Duration took = Duration.ofNanos(this.scheduling.clock().nanoTime() - begun);
			Duration pause = this.awaited.isEmpty() ? this.timing.renewEvery() : took;
			tickAfter(atLeast((renewed ? pause : retryDelay()).minus(took)));
		}
	}

	private boolean renew(List<ActiveRun> due) {
		List<Confirmation> waiting = List.copyOf(this.awaited);
		Moment sent = this.scheduling.clock().now();
		List<Duration> left = due.stream().map((run) -> run.deadline().remaining()).toList();
		List<Renewal> answers = Collections.nCopies(due.size(), Renewal.UNKNOWN);
		ActiveRun unanswered = null;
		try {
			answers = ask(due);
		}
		finally {
			Duration took = Duration.ofNanos(this.scheduling.clock().nanoTime() - sent.nanos());
			for (int i = 0; i < due.size(); i++) {
				unanswered = apply(answers.get(i), due.get(i), sent) ? unanswered : due.get(i);
				if (answers.get(i) == Renewal.EXTENDED) {
					answer(waiting, due.get(i), true);
				}
				this.listener.renewed(due.get(i), new RenewalReport(answers.get(i), took, left.get(i)));
			}
		}
		if (unanswered != null) {
			report(unanswered, "the store did not answer for this lease", null);
		}
		else if (this.failing) {
			this.failing = false;
			logger.info(due.get(0).job() + ": renewal works again");
		}
		return unanswered == null;
	}

	private List<Renewal> ask(List<ActiveRun> due) {
		List<Renewal> answers = this.store.renew(due.stream().map(ActiveRun::grant).toList());
		if (answers.size() != due.size()) {
			throw new IllegalStateException("The store answered " + answers.size() + " of " + due.size() + " renewals");
		}
		return answers;
	}

	private boolean apply(Renewal answer, ActiveRun run, Moment sent) {
		switch (answer) {
			case EXTENDED -> run.deadline().confirm(sent);
			case GONE -> {
				remove(run);
				run.life().end(new RunEnd(RunOutcome.LOST, "the store says that its lease is gone"));
			}
			case UNKNOWN -> {
				return false;
			}
		}
		return true;
	}

	private void report(ActiveRun run, String reason, @Nullable Throwable failure) {
		String message = run.job() + ": renewal failed, its lease can be relied on for another "
				+ run.remaining().toMillis() + " ms, trying again: " + reason;
		if (this.failing) {
			logger.debug(message, failure);
		}
		else {
			this.failing = true;
			logger.warn(message);
		}
	}

	private Duration retryDelay() {
		long most = this.timing.callTimeout().toNanos() / 2;
		return Duration.ofNanos(this.scheduling.random().nextLong(most / 2, most));
	}

	private static Duration atLeast(Duration delay) {
		return (delay.compareTo(MIN_RETRY) > 0) ? delay : MIN_RETRY;
	}

	/**
	 * Somebody waits for the next renewal of a run.
	 *
	 * @param run the run
	 * @param extended whether the store has extended its lease
	 */
	private record Confirmation(ActiveRun run, CompletableFuture<Boolean> extended) {
	}

}
