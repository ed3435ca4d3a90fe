package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.singletonjob.Handover;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Fence.Completion;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a run records of its fire time, how long it holds its lease, and how it waits for
 * a holder before it, on virtual time.
 */
@Timeout(30)
class FireTimeRunTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final Instant ONE = Instant.parse("2026-03-01T01:00:00Z");

	private static final LeaseTiming TIMING = LeaseTiming.of(Duration.ofSeconds(10), null, null);

	private static final JobBody MUST_NOT_RUN = (run) -> {
		throw new AssertionError("must not run");
	};

	private final VirtualTime time = new VirtualTime();

	private final InMemoryLeaseStore store = new InMemoryLeaseStore(this.time::nanoTime);

	private final Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));

	private final List<String> losses = new ArrayList<>();

	private RunSettings settings = new RunSettings(TIMING, null, OnLost.INTERRUPT, false);

	private @Nullable Fence fence;

	@Test
	void aRunThatReturnsHasCompletedItsFireTime() {
		assertThat(run((run) -> assertThat(run.fireTime()).contains(ONE)).fireTime()).isEqualTo(ONE);
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
		assertThat(run((run) -> {
		}).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
	}

	@Test
	void aRunThatThrowsHasCompletedIt() {
		run((run) -> {
			throw new IllegalStateException("no paper");
		});
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
	}

	@Test
	void aRunThatWasCancelledAndReturnsNormallyHasNot() {
		SingletonJobRunner runner = runner();
		RunResult result = runner.run(new RunRequest(BILLING, this.settings, firing()), (run) -> runner.cancelAll());
		assertThat(result.outcome()).isEqualTo(RunOutcome.CANCELLED);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aRunThatWasLostAndReturnsNormallyHasNot() {
		RunResult result = run((run) -> {
			this.store.lose("billing");
			this.time.advance(Duration.ofSeconds(4));
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
	}

	@Test
	void aBodyThatStopsBecauseTheClocksDisagreeHasNot() {
		RunResult result = run((run) -> {
			this.time.stickWorkers();
			this.time.stepWallClock(Duration.ofMinutes(1));
			run.ensureHeld();
		});
		this.time.releaseWorkers();
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
	}

	@Test
	void aRunThatExceedsItsLimitHasCompletedItWithFailure() {
		this.settings = new RunSettings(TIMING, Duration.ofSeconds(20), OnLost.SIGNAL, false);
		RunResult result = run((run) -> this.time.advance(Duration.ofSeconds(21)));
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
	}

	@Test
	void theDatabaseIsToldOfARunThatIsGivenUpWhileItsBodyGoesOn() {
		this.settings = new RunSettings(TIMING, Duration.ofSeconds(20), OnLost.SIGNAL, false);
		List<String> calls = new ArrayList<>();
		this.fence = new RecordingFence(calls, true, () -> calls.add("held " + held()));
		run((run) -> {
			this.time.advance(Duration.ofSeconds(31));
			assertThat(calls).containsExactly("raise", "complete " + ONE, "held true");
			assertThat(held()).isFalse();
			assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
		});
	}

	@Test
	void theDatabaseIsToldBeforeTheLeaseIsGivenBack() {
		List<String> calls = new ArrayList<>();
		this.fence = new RecordingFence(calls, true,
				() -> calls.add("held " + this.store.inspect(BILLING, Duration.ofSeconds(1)).held()));
		run((run) -> calls.add("body"));
		assertThat(calls).containsExactly("raise", "body", "complete " + ONE, "held true");
	}

	@Test
	void aRunWhoseFenceStandsElsewhereAtItsEndIsLost() {
		this.fence = new RecordingFence(new ArrayList<>(), false, () -> {
		});
		RunResult result = run((run) -> {
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
		assertThat(this.losses).hasSize(1);
	}

	@Test
	void aFiringBehindAFireTimeThatOnlyTheStoreHoldsOpenRunsItsOwn() {
		run((run) -> this.store.lose("billing"));
		this.time.advance(Duration.ofSeconds(20));
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
		Instant two = ONE.plus(Duration.ofDays(1));
		List<Instant> ran = new ArrayList<>();
		this.fence = (grant, holder, timeout) -> grant.fireTime().instant().equals(ONE) ? new Fence.AlreadyRan(ONE)
				: new Fence.Raised(grant.fireTime());
		RunResult result = runner().run(new RunRequest(BILLING, this.settings, new Firing("", two, true)),
				(run) -> ran.add(run.fireTime().orElseThrow()));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(ran).containsExactly(two);
		assertThat(known()).isEqualTo(new FireTimes(two, two));
	}

	@Test
	void aRunThatTheDatabaseHasRecordedIsNotReportedAsLost() {
		this.fence = new RecordingFence(new ArrayList<>(), true, () -> this.store.lose("billing"));
		assertThat(run((run) -> {
		}).outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
	}

	@Test
	void whatTheDatabaseKnowsToHaveRunIsNotRunAndTheStoreIsTold() {
		this.fence = (grant, holder, timeout) -> new Fence.AlreadyRan(ONE);
		RunResult result = run((run) -> {
			throw new AssertionError("must not run");
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void whyAFireTimeIsSkippedIsALineForPeople(CapturedOutput output) {
		Logger runtime = (Logger) LoggerFactory.getLogger("io.github.singletonjob.runtime");
		runtime.setLevel(Level.DEBUG);
		try {
			Instant later = ONE.plusSeconds(60);
			this.fence = (grant, holder, timeout) -> new Fence.AlreadyRan(later);
			for (String who : new String[] { "the guarded database", "the store" }) {
				run((run) -> {
					throw new AssertionError("must not run");
				});
				assertThat(output).contains("billing: skipped, its fire time " + ONE + " or a later one has run: " + who
						+ " has " + later + " as completed");
			}
		}
		finally {
			runtime.setLevel(null);
		}
	}

	@Test
	void theFireTimeThatTheDatabaseKnowsToBeOpenIsRun() {
		Instant earlier = ONE.minusSeconds(3600);
		this.fence = (grant, holder, timeout) -> new Fence.Raised(new GrantedFireTime(firing(), earlier, true, null));
		RunResult result = run((run) -> {
			assertThat(run.fireTime()).contains(earlier);
			assertThat(run.isTakeover()).isTrue();
		});
		assertThat(result.fireTime()).isEqualTo(earlier);
		assertThat(known()).isEqualTo(new FireTimes(ONE, earlier));
	}

	@Test
	void aFireTimeAheadOfTheDatabasesClockIsRefusedAndTheLeaseGivenBack() {
		this.fence = (grant, holder, timeout) -> new Fence.Early(ONE.minusSeconds(3600));
		assertThatIllegalStateException().isThrownBy(() -> run((run) -> {
		})).withMessageContaining("correct the clock");
		assertThat(this.store.inspect(BILLING, Duration.ofSeconds(1)).held()).isFalse();
	}

	@Test
	void aFireTimeThatTheDatabaseDidNotAnswerForIsFinishedByTheNextFiring() {
		this.fence = silent();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> run(MUST_NOT_RUN));
		this.fence = null;
		assertThat(run((run) -> assertThat(run.isTakeover()).isTrue()).outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
	}

	@Test
	void withTakeoverNeverAFireTimeThatTheDatabaseDidNotAnswerForStaysUndone() {
		this.fence = silent();
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> runOnce(MUST_NOT_RUN));
		assertThat(held()).isFalse();
		this.fence = null;
		assertThat(runOnce(MUST_NOT_RUN).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
	}

	@Test
	void withTakeoverNeverAFireTimeThatTheDatabaseRefusedStaysUndone() {
		this.fence = (grant, holder, timeout) -> new Fence.Refused(grant.token() + 1000);
		assertThat(runOnce(MUST_NOT_RUN).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
		assertThat(held()).isFalse();
		this.fence = null;
		assertThat(runOnce(MUST_NOT_RUN).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
	}

	@Test
	void aStrictHandoverWaitsForAHolderThatFellSilent() {
		leaveSilently();
		this.settings = strict();
		long start = this.time.nanoTime();
		CompletableFuture<Long> began = new CompletableFuture<>();
		Thread thread = daemon(() -> run((run) -> began.complete(this.time.nanoTime())));
		thread.start();
		this.time.awaitTimer(TIMING.reliable());
		assertThat(began).isNotDone();
		this.time.advance(Duration.ofMillis(6900));
		assertThat(began).isNotDone();
		this.time.advance(Duration.ofMillis(200));
		assertThat(began).succeedsWithin(Duration.ofSeconds(5));
		assertThat(Duration.ofNanos(began.join() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(7));
	}

	@Test
	void aStrictHandoverDoesNotWaitForAHolderThatGaveItsLeaseBack() {
		run((run) -> {
		});
		this.settings = strict();
		assertThat(runner().run(BILLING, this.settings, (run) -> {
		}).outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	@Test
	void aRunThatIsCancelledWhileItWaitsNeverBegins() {
		leaveSilently();
		this.settings = strict();
		SingletonJobRunner runner = runner();
		List<RunResult> results = new ArrayList<>();
		Thread thread = daemon(
				() -> results.add(runner.run(new RunRequest(BILLING, this.settings, firing()), MUST_NOT_RUN)));
		thread.start();
		this.time.awaitTimer(TIMING.reliable());
		runner.cancelAll();
		Awaitility.await().until(() -> !thread.isAlive());
		assertThat(results).singleElement().extracting(RunResult::outcome).isEqualTo(RunOutcome.CANCELLED);
		assertThat(known()).isEqualTo(new FireTimes(ONE, null));
	}

	@Test
	void minHoldKeepsTheLeaseAndRenewsIt() {
		this.settings = new RunSettings(TIMING, new RunSettings.Length(Duration.ofMinutes(1), null), OnLost.INTERRUPT,
				Handover.FAST, OnShutdown.CANCEL, false);
		run((run) -> this.time.advance(Duration.ofSeconds(5)));
		assertThat(known()).isEqualTo(new FireTimes(ONE, ONE));
		this.time.advance(Duration.ofMillis(54_900));
		assertThat(held()).isTrue();
		this.time.advance(Duration.ofMillis(200));
		assertThat(held()).isFalse();
		assertThat(this.losses).isEmpty();
	}

	@Test
	void minHoldDoesNotKeepTheLeaseOfARunThatWasCancelled() {
		this.settings = new RunSettings(TIMING, new RunSettings.Length(Duration.ofMinutes(1), null), OnLost.SIGNAL,
				Handover.FAST, OnShutdown.CANCEL, false);
		SingletonJobRunner runner = runner();
		runner.run(BILLING, this.settings, (run) -> runner.cancelAll());
		assertThat(held()).isFalse();
	}

	@Test
	void minHoldMustFitIntoMaxRun() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RunSettings.Length(Duration.ofMinutes(2), Duration.ofMinutes(1)))
			.withMessageContaining("min-hold");
	}

	private RunSettings strict() {
		return new RunSettings(TIMING, new RunSettings.Length(null, null), OnLost.INTERRUPT, Handover.STRICT,
				OnShutdown.CANCEL, false);
	}

	private void leaveSilently() {
		LeaseRequest request = new LeaseRequest(BILLING, UUID.randomUUID().toString(), "silent", TIMING.ttl(),
				TIMING.callTimeout(), 0);
		assertThat(this.store.tryAcquire(request)).isInstanceOf(Acquisition.Acquired.class);
		this.time.advance(Duration.ofSeconds(11));
	}

	private static Thread daemon(Runnable work) {
		Thread thread = new Thread(work);
		thread.setDaemon(true);
		return thread;
	}

	private boolean held() {
		return this.store.inspect(BILLING, Duration.ofSeconds(1)).held();
	}

	private FireTimes known() {
		return this.store.inspect(BILLING, Duration.ofSeconds(1)).fireTimes().getOrDefault("", FireTimes.NONE);
	}

	private static Fence silent() {
		return (grant, holder, timeout) -> {
			throw new LeaseStoreException("the guarded database did not answer", null);
		};
	}

	private RunResult runOnce(JobBody body) {
		return runner().run(new RunRequest(BILLING, this.settings, new Firing("", ONE, false)), body);
	}

	private static Firing firing() {
		return new Firing("", ONE, true);
	}

	private RunResult run(JobBody body) {
		return runner().run(new RunRequest(BILLING, this.settings, firing()), body);
	}

	private SingletonJobRunner runner() {
		LeaseKeeper keeper = new LeaseKeeper(this.store, this.scheduling, (run, reason) -> this.losses.add(reason));
		return new SingletonJobRunner(this.store, this.fence, keeper, "server-1");
	}

	/**
	 * A fence that records its calls.
	 */
	private record RecordingFence(List<String> calls, boolean own, Runnable atCompletion) implements Fence {

		@Override
		public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
			this.calls.add("raise");
			return new Raised(grant.fireTime());
		}

		@Override
		public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
			this.calls.add("complete " + fireTime.instant());
			this.atCompletion.run();
			return this.own ? Completion.RECORDED : Completion.REFUSED;
		}

		@Override
		public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
			return Map.of();
		}

	}

}
