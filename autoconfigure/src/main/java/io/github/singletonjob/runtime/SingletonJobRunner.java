package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.Optional;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The sequence of a run, on the thread that calls it:
 * <ol>
 * <li>ask the store for the lease; its deadline counts from before the request was
 * sent;</li>
 * <li>keep it from here on;</li>
 * <li>raise the fence, so that no older holder can commit any more and what it committed
 * before is visible; a grant below the fence is given back and asked for anew, once,
 * above what the database has seen;</li>
 * <li>check again that the lease is held, bind the run, execute the body;</li>
 * <li>close the run for interrupts and commits, and only then give the lease back.</li>
 * </ol>
 * Nothing that happens after the body replaces its result or its exception.
 */
public final class SingletonJobRunner {

	private static final Log logger = LogFactory.getLog(SingletonJobRunner.class);

	private final RunStarter starter;

	private final LeaseKeeper keeper;

	private final ActiveRuns activeRuns = new ActiveRuns();

	/**
	 * Creates a runner.
	 * @param store grants the leases
	 * @param fence is raised before each body; null if no database is guarded
	 * @param keeper keeps the leases; works with the same store
	 * @param holder names this instance, for people
	 */
	public SingletonJobRunner(LeaseStore store, @Nullable Fence fence, LeaseKeeper keeper, String holder) {
		this.starter = new RunStarter(store, fence, keeper, holder);
		this.keeper = keeper;
	}

	/**
	 * Tries to take the job's lease and, if it was granted, executes the body on the
	 * calling thread.
	 * @param job the job
	 * @param settings its settings
	 * @param body the work
	 * @return how it ended
	 * @throws LeaseStoreException if the store or the guarded database could not answer,
	 * so that the body was not run
	 * @throws IllegalStateException if the calling thread is inside a run of the same
	 * job, or the application is stopping
	 */
	public RunResult run(JobId job, RunSettings settings, JobBody body) {
		LeasedRun enclosing = enclosing(job);
		this.activeRuns.begin(job.name());
		try {
			ActiveRun run = this.starter.start(job, settings, enclosing);
			if (run == null) {
				return new RunResult(RunOutcome.SKIPPED_HELD, 0, null);
			}
			this.activeRuns.add(run);
			try {
				return execute(run, body);
			}
			finally {
				this.activeRuns.remove(run);
			}
		}
		finally {
			this.activeRuns.end();
		}
	}

	/**
	 * Refuses new runs from here on and cancels those that go on.
	 */
	public void cancelAll() {
		this.activeRuns.cancelAll()
			.forEach((run) -> logger.info(run.job() + ": run with token " + run.token()
					+ " is cancelled, because the application is stopping"));
	}

	/**
	 * Allows new runs again, after {@link #cancelAll()}.
	 */
	public void resume() {
		this.activeRuns.resume();
	}

	/**
	 * Waits until no run is left.
	 * @param timeout how long to wait at most
	 * @return whether none is left; while there are, their leases are kept
	 * @throws InterruptedException if the thread is interrupted
	 */
	public boolean awaitIdle(Duration timeout) throws InterruptedException {
		return this.activeRuns.awaitIdle(timeout);
	}

	private static @Nullable LeasedRun enclosing(JobId job) {
		LeasedRun enclosing = CurrentJobRun.find()
			.filter(LeasedRun.class::isInstance)
			.map(LeasedRun.class::cast)
			.orElse(null);
		Optional<LeasedRun> around = Optional.ofNullable(enclosing);
		while (around.isPresent()) {
			if (around.get().grant().job().equals(job)) {
				throw new IllegalStateException(job.name()
						+ ": the job starts itself again on its own thread, which would wait for its own lease."
						+ " Call the method's work directly, or use a job of another name");
			}
			around = around.get().enclosing();
		}
		return enclosing;
	}

	private RunResult execute(ActiveRun run, JobBody body) {
		Throwable failure = null;
		Runnable unlimit = () -> {
		};
		try {
			Duration maxRun = run.settings().maxRun();
			if (maxRun != null) {
				unlimit = this.keeper.limit(run, maxRun);
			}
			executeBody(run, body);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		unlimit.run();
		return finish(run, failure);
	}

	private static void executeBody(ActiveRun run, JobBody body) throws Exception {
		if (logger.isDebugEnabled()) {
			logger.debug(run.job() + ": begins with token " + run.token());
		}
		run.beginBody();
		try (CurrentJobRun.Scope scope = CurrentJobRun.open(run)) {
			run.ensureHeld();
			body.execute(run);
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

	/** The interrupt that both runs were told by can have been taken by the inner one. */
	private static boolean isAroundInterrupted(ActiveRun run) {
		Optional<LeasedRun> around = run.enclosing();
		while (around.isPresent()) {
			if (around.get() instanceof ActiveRun active && active.isInterrupted()) {
				return true;
			}
			around = around.get().enclosing();
		}
		return false;
	}

	private RunResult finish(ActiveRun run, @Nullable Throwable thrown) {
		BodyEnd end = run.endBody((thrown == null) ? RunOutcome.COMPLETED : RunOutcome.FAILED);
		boolean foreignInterrupt = (Thread.interrupted() || thrown instanceof InterruptedException)
				&& !end.interruptedByUs();
		RunEnd outcome = end.run();
		if (!this.keeper.giveBack(run, thrown) && end.byItself()) {
			outcome = new RunEnd(RunOutcome.LOST, "its lease was not its own any more when it was given back");
			this.keeper.lostAtTheEnd(run, outcome.reason());
		}
		if (logger.isDebugEnabled()) {
			logger.debug(run.job() + ": run with token " + run.token() + " ends: " + outcome.outcome());
		}
		if (foreignInterrupt || isAroundInterrupted(run)) {
			Thread.currentThread().interrupt();
		}
		if (thrown instanceof Error error) {
			throw error;
		}
		boolean byItself = end.byItself() && outcome.outcome() != RunOutcome.LOST;
		Throwable failure = byItself ? thrown : over(run, outcome, thrown);
		return new RunResult(outcome.outcome(), run.token(), failure);
	}

}
