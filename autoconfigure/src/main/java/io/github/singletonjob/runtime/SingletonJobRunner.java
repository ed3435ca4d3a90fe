package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.RunResult;
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
 */
public final class SingletonJobRunner {

	private static final Log logger = LogFactory.getLog(SingletonJobRunner.class);

	private final RunStarter starter;

	private final RunCloser closer;

	private final LeaseKeeper keeper;

	private final RunListener listener;

	private final RunScopes scopes;

	private final ActiveRuns activeRuns = new ActiveRuns();

	/** Take back when runs that may finish are cancelled. */
	private final Queue<Runnable> limits = new ConcurrentLinkedQueue<>();

	/**
	 * Creates a runner whose runs have no scopes.
	 * @param store grants the leases
	 * @param fence is raised before each body; null if no database is guarded
	 * @param keeper keeps the leases; works with the same store
	 * @param holder names this instance, for people
	 */
	public SingletonJobRunner(LeaseStore store, @Nullable Fence fence, LeaseKeeper keeper, String holder) {
		this(store, fence, keeper, holder, List.of());
	}

	/**
	 * Creates a runner.
	 * @param store grants the leases
	 * @param fence is raised before each body; null if no database is guarded
	 * @param keeper keeps the leases; works with the same store
	 * @param holder names this instance, for people
	 * @param scopes are opened around each body, in this order
	 */
	public SingletonJobRunner(LeaseStore store, @Nullable Fence fence, LeaseKeeper keeper, String holder,
			List<RunScope> scopes) {
		this.starter = new RunStarter(store, fence, keeper, holder);
		this.closer = new RunCloser(fence, keeper);
		this.keeper = keeper;
		this.listener = keeper.listener();
		this.scopes = new RunScopes(scopes);
	}

	/**
	 * Tries to take the job's lease and, if it was granted, executes the body on the
	 * calling thread.
	 * @param request what is to be run
	 * @param body the work
	 * @return how it ended; an {@link Error} of the body is thrown after the lease was
	 * given back
	 * @throws LeaseStoreException if the store or the guarded database could not answer,
	 * so that the body was not run
	 * @throws IllegalStateException if the calling thread is inside a run of the same
	 * job, the application is stopping, or the clock of this machine is wrong
	 */
	public RunResult run(RunRequest request, JobBody body) {
		LeasedRun enclosing = EnclosingRuns.around(request.job());
		this.activeRuns.begin(request.job().name(), enclosing);
		try {
			RunStarter.Start start = begin(request, enclosing);
			if (!(start instanceof RunStarter.Begun begun)) {
				return skipped(request, start);
			}
			BodyCall call = begin(begun.run());
			Throwable failure = call.execute(body);
			RunResult result = end(call, failure);
			if (failure instanceof Error error) {
				throw error;
			}
			return result;
		}
		finally {
			this.activeRuns.end();
		}
	}

	/**
	 * As {@link #run(RunRequest, JobBody)}, for a run without a fire time.
	 * @param job the job
	 * @param settings its settings
	 * @param body the work
	 * @return how it ended
	 */
	public RunResult run(JobId job, RunSettings settings, JobBody body) {
		return run(new RunRequest(job, settings, null), body);
	}

	/**
	 * As {@link #run(RunRequest, JobBody)}, for work that goes on after the call has
	 * returned: the lease is held until its stage is completed. A run that is over before
	 * has its stage cancelled; no thread of a pool is interrupted.
	 * @param request what is to be run
	 * @param body begins the work, on the calling thread
	 * @return completed with how it ended, after the lease was given back
	 * @throws LeaseStoreException as above
	 * @throws IllegalStateException as above
	 */
	public CompletionStage<RunResult> start(RunRequest request, StageBody body) {
		LeasedRun enclosing = EnclosingRuns.around(request.job());
		this.activeRuns.begin(request.job().name(), enclosing);
		CompletableFuture<RunResult> result = new CompletableFuture<>();
		try {
			RunStarter.Start start = begin(request, enclosing);
			if (start instanceof RunStarter.Begun begun) {
				begin(begun.run(), body, result);
			}
			else {
				result.complete(skipped(request, start));
			}
		}
		catch (RuntimeException | Error ex) {
			this.activeRuns.end();
			throw ex;
		}
		return result.whenComplete((ended, failure) -> this.activeRuns.end());
	}

	private void begin(ActiveRun run, StageBody body, CompletableFuture<RunResult> result) {
		BodyCall call = begin(run);
		CompletableFuture<Object> work = new CompletableFuture<>();
		Throwable failure = call.execute((current) -> {
			CompletionStage<?> stage = body.begin(current);
			if (stage == null) {
				work.complete(null);
				return;
			}
			follow(stage, work);
			CompletableFuture<Void> unused = run.life().ended().thenAccept((end) -> cancel(stage, work));
		});
		if (failure != null) {
			work.completeExceptionally(failure);
		}
		call.leaveThread(failure);
		follow(work.handleAsync((value, thrown) -> end(call, unwrap(thrown)), this.keeper.scheduling()::workOrRun),
				result);
	}

	// Code of the application depends on the stage, and must not hold up who ends the run
	private void cancel(CompletionStage<?> stage, CompletableFuture<?> work) {
		if (!work.isDone()) {
			this.keeper.scheduling().work(() -> stage.toCompletableFuture().cancel(true));
		}
	}

	/** Completes a future as a stage is completed. */
	private static <T> void follow(CompletionStage<? extends T> stage, CompletableFuture<T> future) {
		CompletionStage<?> unused = stage.whenComplete((value, thrown) -> {
			if (thrown != null) {
				future.completeExceptionally(thrown);
			}
			else {
				future.complete(value);
			}
		});
	}

	private static @Nullable Throwable unwrap(@Nullable Throwable thrown) {
		return (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause() : thrown;
	}

	private RunStarter.Start begin(RunRequest request, @Nullable LeasedRun enclosing) {
		try {
			return this.starter.start(request, enclosing);
		}
		catch (RuntimeException | Error ex) {
			this.listener.notStarted(request.job(), ex);
			throw ex;
		}
	}

	private BodyCall begin(ActiveRun run) {
		this.activeRuns.add(run);
		this.listener.granted(run);
		return new BodyCall(run, this.keeper, this.closer, this.scopes);
	}

	private RunResult end(BodyCall call, @Nullable Throwable failure) {
		ActiveRun run = call.run();
		try {
			call.workHasEnded();
			RunResult result = this.closer.close(run, failure);
			this.listener.ended(run, result);
			return result;
		}
		finally {
			this.activeRuns.remove(run);
		}
	}

	private RunResult skipped(RunRequest request, RunStarter.Start start) {
		if (!(start instanceof RunStarter.Skipped skipped)) {
			throw new IllegalStateException("Neither begun nor skipped: " + start);
		}
		this.listener.skipped(request.job(), skipped.outcome());
		return new RunResult(skipped.outcome(), 0, null, null);
	}

	/**
	 * Refuses new runs from here on and cancels those that go on.
	 */
	public void cancelAll() {
		this.activeRuns.cancelAll(SingletonJobRunner::reportCancelled);
	}

	/**
	 * Refuses new runs from here on and cancels those that go on, except for those that
	 * may finish: they are cancelled shortly before a time is over, as long before as
	 * they would stop before the end of a lease. What they start themselves is not
	 * refused.
	 * @param timeout how long this application waits for its runs
	 */
	public void stop(Duration timeout) {
		this.activeRuns.stop(SingletonJobRunner::reportCancelled).forEach((run) -> {
			Duration grace = timeout.minus(run.settings().timing().stopEarly());
			logger.info(
					run.job() + ": run with token " + run.token() + " may finish although the application is stopping,"
							+ " for " + Math.max(0, grace.toMillis()) + " ms");
			this.limits.add(this.keeper.scheduling()
				.after(grace, () -> this.activeRuns.cancelWithNested(run, SingletonJobRunner::reportCancelled)));
		});
	}

	private static void reportCancelled(ActiveRun run) {
		logger
			.info(run.job() + ": run with token " + run.token() + " is cancelled, because the application is stopping");
	}

	/**
	 * Allows new runs again, after a stop; a run that may finish is not cancelled any
	 * more.
	 */
	public void resume() {
		this.activeRuns.resume();
		this.limits.forEach(Runnable::run);
		this.limits.clear();
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

}
