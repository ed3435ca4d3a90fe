package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.Handover;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What must not go wrong for good when threads, timers or limits fail. Virtual time where
 * nothing else is said: ttl 10 s, renewed every 3 s, margin 3 s.
 */
@Timeout(30)
class RunnerUnderFaultTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final LeaseTiming TIMING = new LeaseTiming(seconds(10), seconds(3), seconds(3));

	private static final RunSettings SETTINGS = new RunSettings(TIMING, null, OnLost.INTERRUPT, false);

	private final VirtualTime time = new VirtualTime();

	private final ModelStore store = new ModelStore(this.time);

	private final List<String> losses = new ArrayList<>();

	/**
	 * The timer cannot start its thread: OutOfMemoryError, "unable to create native
	 * thread".
	 */
	@Test
	void aLeaseIsNotKeptForEverWhenItsWatchdogCannotStart() {
		AtomicBoolean outOfThreads = new AtomicBoolean(true);
		AtomicInteger timers = new AtomicInteger();
		JobTimer timer = (delay, task) -> {
			// The first is the lane's, the second the watchdog's
			if (outOfThreads.get() && timers.incrementAndGet() == 2) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			return this.time.after(delay, task);
		};
		SingletonJobRunner runner = runner(timer, this.time);
		assertThat(catchThrowable(() -> runner.run(BILLING, SETTINGS, (run) -> {
		}))).isInstanceOf(OutOfMemoryError.class);
		outOfThreads.set(false);
		this.time.advance(Duration.ofHours(1));
		assertThat(runner.run(BILLING, SETTINGS, (run) -> {
		}).outcome()).as("an hour later").isEqualTo(RunOutcome.COMPLETED);
	}

	/** Duration.toNanos overflows at 292 years. */
	@Test
	void aLimitThatIsAsGoodAsNoneDoesNotBlockTheJobForEver() {
		SingletonJobRunner runner = runner(this.time, this.time);
		RunSettings endless = new RunSettings(TIMING, Duration.ofDays(365_000), OnLost.INTERRUPT, false);
		Throwable failure = catchThrowable(() -> runner.run(BILLING, endless, (run) -> {
		}));
		this.time.advance(Duration.ofHours(1));
		assertThat(runner.run(BILLING, SETTINGS, (run) -> {
		}).outcome()).as("an hour after " + failure).isEqualTo(RunOutcome.COMPLETED);
	}

	/**
	 * A thread is paused between the scheduling of a tick and the entry of the tick as
	 * pending, for longer than the tick's delay.
	 */
	@Test
	void aPauseWhileATickIsScheduledDoesNotEndRenewalForGood() {
		AtomicBoolean paused = new AtomicBoolean();
		JobTimer timer = (delay, task) -> {
			Runnable cancel = this.time.after(delay, task);
			if (paused.compareAndSet(true, false)) {
				this.time.advance(delay);
			}
			return cancel;
		};
		SingletonJobRunner runner = runner(timer, this.time);
		// The first run ends. The lane's next tick finds nothing to renew, or a renewal
		// finds that its run has ended, and ticks once more: there comes the pause
		RunResult first = runner.run(BILLING, SETTINGS, (run) -> {
			paused.set(true);
			this.time.advance(seconds(4));
		});
		assertThat(first.outcome()).isEqualTo(RunOutcome.COMPLETED);
		this.time.advance(seconds(60));
		for (int i = 0; i < 3; i++) {
			RunResult result = runner.run(BILLING, SETTINGS, (run) -> this.time.advance(seconds(20)));
			assertThat(result.outcome()).as("run " + i).isEqualTo(RunOutcome.COMPLETED);
		}
	}

	/** A lost lease must be given back also if the event cannot be delivered. */
	@Test
	void aLeaseIsGivenBackAlsoWhenNoWorkerCouldTellOfTheLoss() {
		AtomicInteger failing = new AtomicInteger();
		Executor workers = (task) -> {
			if (failing.getAndDecrement() > 0) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			task.run();
		};
		SingletonJobRunner runner = runner(this.time, workers);
		runner.run(BILLING, SETTINGS, (run) -> {
			this.store.failingRenewals = 1000;
			this.time.advance(Duration.ofMillis(6999));
			failing.set(1);
			Throwable noWorker = catchThrowable(() -> this.time.advance(Duration.ofMillis(1)));
			assertThat(noWorker).satisfiesAnyOf((none) -> assertThat(none).isNull(),
					(error) -> assertThat(error).isInstanceOf(OutOfMemoryError.class));
			assertThat(run.isHeld()).isFalse();
			failing.set(0);
			this.time.advance(seconds(10));
			assertThat(this.store.count("release")).as("releases of the lost lease under the body").isEqualTo(1);
		});
	}

	@Test
	void aLeaseThatWasHeldOnIsGivenBackAlsoIfNoWorkerWasThere() {
		AtomicBoolean outOfThreads = new AtomicBoolean();
		SingletonJobRunner runner = runner(this.time, workers(outOfThreads));
		RunSettings held = new RunSettings(TIMING, new RunSettings.Length(Duration.ofMinutes(1), null),
				OnLost.INTERRUPT, Handover.FAST, OnShutdown.CANCEL, false);
		runner.run(BILLING, held, (run) -> {
		});
		this.time.advance(Duration.ofMillis(59_900));
		assertThat(this.store.count("release")).isZero();
		outOfThreads.set(true);
		this.time.advance(Duration.ofMillis(200));
		outOfThreads.set(false);
		this.time.advance(seconds(2));
		assertThat(this.store.count("release")).isEqualTo(1);
	}

	@Test
	void aStageThatEndsWhileThereIsNoThreadGivesItsLeaseBack() {
		AtomicBoolean outOfThreads = new AtomicBoolean();
		SingletonJobRunner runner = runner(this.time, workers(outOfThreads));
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<RunResult> ended = runner.start(new RunRequest(BILLING, SETTINGS, null), (run) -> work);
		outOfThreads.set(true);
		work.complete("done");
		assertThat(ended.toCompletableFuture())
			.isCompletedWithValueMatching((result) -> result.outcome() == RunOutcome.COMPLETED);
		assertThat(this.store.count("release")).isEqualTo(1);
	}

	@Test
	void aLostStageIsCancelledAsSoonAsThereIsAThread() {
		AtomicBoolean outOfThreads = new AtomicBoolean();
		SingletonJobRunner runner = runner(this.time, workers(outOfThreads));
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<RunResult> ended = runner.start(new RunRequest(BILLING, SETTINGS, null), (run) -> work);
		this.store.failingRenewals = 1000;
		this.time.advance(Duration.ofMillis(6900));
		outOfThreads.set(true);
		this.time.advance(Duration.ofMillis(200));
		assertThat(this.losses).isEmpty();
		outOfThreads.set(false);
		this.time.advance(seconds(2));
		assertThat(work).isCancelled();
		assertThat(this.losses).hasSize(1);
		assertThat(ended.toCompletableFuture())
			.isCompletedWithValueMatching((result) -> result.outcome() == RunOutcome.LOST);
	}

	@Test
	void aStageThatWasInterruptedElsewhereInterruptsNoWorker() {
		SingletonJobRunner runner = runner(this.time, this.time);
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<RunResult> ended = runner.start(new RunRequest(BILLING, SETTINGS, null), (run) -> work);
		work.completeExceptionally(new InterruptedException());
		assertThat(ended.toCompletableFuture())
			.isCompletedWithValueMatching((result) -> result.outcome() == RunOutcome.FAILED);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aThreadThatIsInterruptedWhileItBeginsAStageStaysInterrupted() {
		SingletonJobRunner runner = runner(this.time, this.time);
		CompletionStage<RunResult> ended = runner.start(new RunRequest(BILLING, SETTINGS, null), (run) -> {
			throw new InterruptedException();
		});
		assertThat(Thread.interrupted()).isTrue();
		assertThat(ended.toCompletableFuture())
			.isCompletedWithValueMatching((result) -> result.outcome() == RunOutcome.FAILED);
	}

	@Test
	void aListenerThatThrowsAnErrorKeepsNoLease() {
		RunListener listener = new RunListener() {

			@Override
			public void granted(LeasedRun run) {
				throw new NoClassDefFoundError("io/micrometer/Missing");
			}

			@Override
			public void renewed(LeasedRun run, RenewalReport report) {
				throw new NoClassDefFoundError("io/micrometer/Missing");
			}

			@Override
			public void lost(LeasedRun run, String reason) {
				RunnerUnderFaultTests.this.losses.add(reason);
			}

		};
		Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));
		SingletonJobRunner runner = new SingletonJobRunner(this.store, null,
				new LeaseKeeper(this.store, scheduling, listener), "server-1");
		RunResult result = runner.run(BILLING, SETTINGS,
				(outer) -> runner.run(new JobId("shop", "mails"), SETTINGS, (inner) -> this.time.advance(seconds(60))));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
		assertThat(this.store.count("release")).isEqualTo(2);
	}

	private static Executor workers(AtomicBoolean outOfThreads) {
		return (task) -> {
			if (outOfThreads.get()) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			task.run();
		};
	}

	@Test
	void theRunAroundANestedStageIsInterruptedToo() {
		// On threads of their own, as in production
		SingletonJobRunner runner = runner(this.time,
				(task) -> CompletableFuture.runAsync(task, (work) -> new Thread(work, "worker").start())
					.orTimeout(10, TimeUnit.SECONDS)
					.join());
		RunResult result = runner.run(BILLING, SETTINGS, (outer) -> {
			CompletionStage<RunResult> nested = runner.start(new RunRequest(new JobId("shop", "mails"), SETTINGS, null),
					(inner) -> {
						runner.cancelAll();
						return new CompletableFuture<>();
					});
			assertThat(nested.toCompletableFuture()).isDone();
			assertThat(Thread.currentThread().isInterrupted()).as("the outer one is").isTrue();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.CANCELLED);
		assertThat(Thread.interrupted()).isFalse();
	}

	/** At a stop both runs are cancelled, and the inner one takes the only interrupt. */
	@Test
	void theRunAroundANestedOneIsInterruptedToo() throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		AtomicReference<Throwable> outer = new AtomicReference<>();
		CountDownLatch never = new CountDownLatch(1);
		try (DaemonThreads threads = new DaemonThreads()) {
			io.github.singletonjob.memory.InMemoryLeaseStore memory = new io.github.singletonjob.memory.InMemoryLeaseStore();
			Scheduling scheduling = new Scheduling(new SystemClock(), threads, threads, new SplittableRandom());
			SingletonJobRunner runner = new SingletonJobRunner(memory, null,
					new LeaseKeeper(memory, scheduling, (run, reason) -> {
					}), "server-1");
			Thread thread = daemon(() -> runner.run(BILLING, SETTINGS, (run) -> {
				runner.run(new JobId("shop", "mails"), SETTINGS, (nested) -> {
					inside.countDown();
					never.await(20, TimeUnit.SECONDS);
				});
				try {
					never.await(20, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					outer.set(ex);
					throw ex;
				}
			}));
			thread.start();
			assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
			runner.cancelAll();
			assertThat(runner.awaitIdle(seconds(5))).as("idle 5 s after the cancellation").isTrue();
			assertThat(outer.get()).isInstanceOf(InterruptedException.class);
		}
		finally {
			never.countDown();
		}
	}

	@Test
	void aRunThatHasEndedLeavesNoTimerBehind() {
		AtomicInteger pending = new AtomicInteger();
		JobTimer timer = (delay, task) -> {
			AtomicBoolean open = new AtomicBoolean(true);
			pending.incrementAndGet();
			Runnable cancel = this.time.after(delay, () -> {
				if (open.getAndSet(false)) {
					pending.decrementAndGet();
				}
				task.run();
			});
			return () -> {
				if (open.getAndSet(false)) {
					pending.decrementAndGet();
				}
				cancel.run();
			};
		};
		SingletonJobRunner runner = runner(timer, this.time);
		RunSettings limited = new RunSettings(TIMING, Duration.ofHours(12), OnLost.INTERRUPT, false);
		for (int i = 0; i < 1000; i++) {
			runner.run(BILLING, limited, (run) -> this.time.advance(seconds(1)));
		}
		this.time.advance(seconds(10));
		assertThat(pending.get()).as("timers after 1000 runs").isLessThan(10);
	}

	private SingletonJobRunner runner(JobTimer timer, Executor workers) {
		Scheduling scheduling = new Scheduling(this.time, timer, workers, new SplittableRandom(1));
		LeaseKeeper keeper = new LeaseKeeper(this.store, scheduling, (run, reason) -> this.losses.add(reason));
		return new SingletonJobRunner(this.store, null, keeper, "server-1");
	}

	private static Thread daemon(Runnable work) {
		Thread thread = new Thread(work);
		thread.setDaemon(true);
		return thread;
	}

	private static Duration seconds(long seconds) {
		return Duration.ofSeconds(seconds);
	}

}
