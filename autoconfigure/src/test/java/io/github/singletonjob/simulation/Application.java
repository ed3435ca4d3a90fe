package io.github.singletonjob.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.LeaseKeeper;
import io.github.singletonjob.runtime.RunRequest;
import io.github.singletonjob.runtime.Scheduling;
import io.github.singletonjob.runtime.SingletonJobRunner;
import io.github.singletonjob.runtime.StandBy;
import io.github.singletonjob.runtime.StandByJob;
import org.jspecify.annotations.Nullable;

/**
 * One process with the runtime in it, from its start to its end. Fires as a cron
 * scheduler does, and stands by for what stays open.
 */
final class Application {

	static final JobId JOB = new JobId("shop", "billing");

	private static final long MILLI = 1_000_000;

	private static final long GRACE = 30_000 * MILLI;

	final SimulatedProcess process;

	private final World world;

	private final DatabaseClient database;

	private final SingletonJobRunner runner;

	private final StandBy standBy;

	private boolean busy;

	private boolean stopping;

	private long lastFired;

	/** When this instance was last told that there may be something to take over. */
	private long looked;

	Application(World world, SimulatedProcess process) {
		this.world = world;
		this.process = process;
		Plan plan = world.plan();
		StoreClient store = new StoreClient(process, world.store(), world.network(), world.loop(),
				plan.timing().callTimeout());
		this.database = new DatabaseClient(process, world.database(), world.network(), plan, world.dice());
		Scheduling scheduling = new Scheduling(process, process, process, world.dice().split());
		this.runner = new SingletonJobRunner(store, this.database,
				new LeaseKeeper(store, scheduling, new Observer(process, world.history())), process.name);
		this.standBy = new StandBy(store, this.database, scheduling);
	}

	void start() {
		this.looked = this.world.loop().now();
		if (this.world.plan().takeover()) {
			this.standBy.add(new StandByJob(JOB, this.world.plan().timing(), Set.of(""), this::runHere));
		}
		scheduleFiring();
	}

	private void scheduleFiring() {
		long interval = this.world.plan().interval().toMillis();
		long wall = this.process.wallMillisAt(this.world.loop().now());
		long next = Math.max((wall / interval + 1) * interval, this.lastFired + interval);
		long due = this.world.loop().now() + (next - wall) * MILLI;
		if (due < this.world.plan().faultsEnd()) {
			this.world.loop().task(due, this.process, () -> {
				// The latest one, also if this process was frozen meanwhile
				this.lastFired = this.process.wallMillisAt(this.world.loop().now()) / interval * interval;
				scheduleFiring();
				fire(new Firing("", Instant.ofEpochMilli(this.lastFired), this.world.plan().takeover()));
			});
		}
	}

	private void fire(Firing firing) {
		if (this.world.plan().stages()) {
			startStage(firing);
		}
		else if (!this.busy) {
			this.busy = true;
			try {
				attempt(firing);
			}
			finally {
				this.busy = false;
			}
		}
	}

	private void attempt(Firing firing) {
		RunResult result = null;
		try {
			result = runHere(firing);
			if (hasFinishedAnEarlierOne(result, firing)) {
				result = runHere(firing);
			}
		}
		catch (LeaseStoreException | IllegalStateException ex) {
			this.world.history().note(this.process + " could not run: " + ex.getMessage());
		}
		standByUnlessDone(firing, result);
	}

	private RunResult runHere(@Nullable Firing firing) {
		Work work = work();
		Strand.current().onInterrupt(work::told);
		try {
			return this.runner.run(request(firing), (run) -> work.execute((LeasedRun) run));
		}
		finally {
			leaveNoInterrupt();
		}
	}

	private void leaveNoInterrupt() {
		Strand.current().onInterrupt(null);
		this.world.history()
			.require(this.process.isGone() || !Thread.currentThread().isInterrupted(), this.process,
					"an interrupt outlives its run");
	}

	private void startStage(Firing firing) {
		Strand.current().onInterrupt(() -> {
		});
		try {
			this.runner.start(request(firing), this::begin).whenComplete((result, failure) -> {
				if (result != null && hasFinishedAnEarlierOne(result, firing)) {
					this.process.execute(() -> startStage(firing));
				}
				else {
					standByUnlessDone(firing, result);
				}
			});
		}
		catch (LeaseStoreException | IllegalStateException ex) {
			this.world.history().note(this.process + " could not start: " + ex.getMessage());
			standByUnlessDone(firing, null);
		}
		finally {
			leaveNoInterrupt();
		}
	}

	private CompletableFuture<Object> begin(JobRun run) {
		Work work = work();
		CompletableFuture<Object> stage = new CompletableFuture<>();
		work.begin((LeasedRun) run);
		this.process.execute(() -> work.perform((LeasedRun) run, stage));
		return stage;
	}

	private Work work() {
		return new Work(this.process, this.database, this.world.plan(), this.world.dice(), this.world.history());
	}

	private RunRequest request(@Nullable Firing firing) {
		return new RunRequest(JOB, this.world.plan().settings(), firing);
	}

	private static boolean hasFinishedAnEarlierOne(RunResult result, Firing firing) {
		return isDone(result) && result.fireTime() != null && result.fireTime().isBefore(firing.fireTime());
	}

	private static boolean isDone(@Nullable RunResult result) {
		return result != null && (result.outcome() == RunOutcome.COMPLETED || result.outcome() == RunOutcome.FAILED);
	}

	private void standByUnlessDone(Firing firing, @Nullable RunResult result) {
		this.world.history().note("fired: " + this.process + " " + ((result != null) ? result.outcome() : "in vain"));
		if (!isDone(result) && (result == null || result.outcome() != RunOutcome.SKIPPED_ALREADY_RAN)) {
			this.looked = this.world.loop().now();
			this.standBy.look(JOB, firing);
		}
	}

	/** Whether this instance lives, and was told of what was started at that time. */
	boolean knowsOf(long started) {
		return isGoing() && this.looked >= started;
	}

	/** A firing after all others. */
	void fireOnceMore() {
		this.process.execute(
				() -> fire(new Firing("", this.process.nextFireTime(this.world.plan().interval().toMillis()), true)));
	}

	boolean isGoing() {
		return !this.stopping && !this.process.isGone();
	}

	/** Is stopped as by SIGTERM, which a frozen process hears of later. */
	void terminate() {
		this.stopping = true;
		this.world.loop().instant(this.world.loop().now(), this.process, this::stop);
	}

	private void stop() {
		this.world.history().note("stops: " + this.process);
		this.standBy.close();
		this.world.history().cancelled(this.process);
		this.runner.cancelAll();
		exitWhenIdle(this.world.loop().now() + GRACE);
	}

	private void exitWhenIdle(long latest) {
		try {
			if (this.runner.awaitIdle(Duration.ZERO) || this.world.loop().now() >= latest) {
				kill();
				return;
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Nobody interrupts an event", ex);
		}
		this.world.loop().instant(this.world.loop().now() + 100 * MILLI, this.process, () -> exitWhenIdle(latest));
	}

	/** Ends as on SIGKILL. */
	void kill() {
		this.world.history().note("is gone: " + this.process);
		this.process.end();
		this.world.store().closeSession(this.process);
	}

}
