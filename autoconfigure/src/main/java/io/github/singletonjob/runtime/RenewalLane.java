package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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

	private final AtomicBoolean calling = new AtomicBoolean();

	private final RenewalTick tick;

	private volatile boolean failing;

	RenewalLane(LeaseStore store, LeaseTiming timing, Scheduling scheduling, RunListener listener) {
		this.store = store;
		this.timing = timing;
		this.scheduling = scheduling;
		this.listener = listener;
		this.watch = new RenewalWatch(scheduling.clock(), timing, new GarbageCollections());
		this.tick = new RenewalTick(scheduling.timer(), this.watch, this::due);
	}

	/** The runs whose leases are renewed. */
	Stream<ActiveRun> held() {
		return this.runs.stream().filter((run) -> run.life().isKept());
	}

	void add(ActiveRun run) {
		this.runs.add(run);
		this.tick.ensureAfter(this.timing.renewEvery(), this.calling::get);
	}

	void remove(ActiveRun run) {
		this.runs.remove(run);
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
				this.tick.after(atLeast(retryDelay()));
			}
		}
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
			this.tick.after(atLeast((renewed ? this.timing.renewEvery() : retryDelay()).minus(took)));
		}
	}

	private boolean renew(List<ActiveRun> due) {
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

}
