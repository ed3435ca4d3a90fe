package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.Handover;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Runs that are told to stop, on virtual time: ttl 10 s, renewed every 3 s, margin 3 s.
 */
class CancelledRunTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final JobId MAILS = new JobId("shop", "mails");

	private static final Firing FIRING = new Firing("", Instant.parse("2026-03-01T01:00:00Z"), true);

	private static final LeaseTiming TIMING = new LeaseTiming(seconds(10), seconds(3), seconds(3));

	private static final Duration PHASE = seconds(30);

	private final VirtualTime time = new VirtualTime();

	private final ModelStore store = new ModelStore(this.time);

	private final List<String> losses = new ArrayList<>();

	private SingletonJobRunner runner = runner(this.store);

	@Test
	void aCancelledRunIsToldToStopAndMayCommitWhatItHasBegun() {
		RunResult result = run(OnShutdown.CANCEL, (run) -> {
			this.runner.cancelAll();
			this.time.advance(seconds(60));
			assertThat(run.isHeld()).isFalse();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(run::ensureHeld)
				.withMessageContaining("application is stopping")
				.withMessageContaining("can still commit");
			assertMayCommit(run);
		});
		assertCancelled(result);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void aCancelledRunThatStopsByEnsureHeldStaysCancelledAndHasNotLostItsLease(CapturedOutput output) {
		RunResult result = run(OnShutdown.CANCEL, (run) -> {
			this.runner.cancelAll();
			try {
				run.ensureHeld();
			}
			finally {
				assertMayCommit(run);
			}
		});
		assertCancelled(result);
		assertThat(this.store.released).hasSize(1);
		assertThat(output).doesNotContain("LOST");
	}

	@Test
	void aCancelledRunWhoseLeaseHasGoneCommitsNothing() {
		RunResult result = run(OnShutdown.CANCEL, (run) -> {
			this.runner.cancelAll();
			this.store.gone = true;
			this.time.advance(seconds(3));
			assertCommitsNothing(run, "its lease is gone");
		});
		assertCancelled(result);
	}

	@Test
	void aCancelledRunCommitsNothingPastItsDeadlineAndItsLeaseIsGivenBackUnderIt() {
		RunResult result = run(OnShutdown.CANCEL, (run) -> {
			this.runner.cancelAll();
			this.store.failingRenewals = 1000;
			this.time.advance(Duration.ofMillis(6999));
			assertMayCommit(run);
			this.time.advance(Duration.ofMillis(1));
			assertCommitsNothing(run, "no renewal was confirmed");
			this.time.advance(seconds(3));
			assertThat(this.store.count("release")).isEqualTo(1);
		});
		assertCancelled(result);
	}

	@Test
	void aCancelledRunThatTheGuardedDatabaseRefusesCommitsNothingMore() {
		RunResult result = run(OnShutdown.CANCEL, (run) -> {
			this.runner.cancelAll();
			run.refused(new StaleTokenException("billing", 1, "newer token 2"));
			assertCommitsNothing(run, "newer token 2");
		});
		assertCancelled(result);
	}

	@Test
	void aCancelledRunCommitsNothingAfterItsBodyHasEnded() {
		JobRun[] kept = new JobRun[1];
		run(OnShutdown.CANCEL, (run) -> {
			kept[0] = run;
			this.runner.cancelAll();
		});
		assertCommitsNothing(kept[0], "it has ended (CANCELLED)");
	}

	@Test
	void aCancelledStageMayCommitUntilItIsCompleted() {
		LeasedRun[] kept = new LeasedRun[1];
		Work work = new Work();
		CompletionStage<RunResult> ended = this.runner.start(request(OnShutdown.CANCEL, null), (run) -> {
			kept[0] = (LeasedRun) run;
			return work;
		});
		this.runner.cancelAll();
		assertThat(work.told).isTrue();
		assertMayCommit(kept[0]);
		work.complete("stopped");
		assertCancelled(ended.toCompletableFuture().join());
		assertCommitsNothing(kept[0], "it has ended");
	}

	@Test
	void aRunOverItsLimitMayCommitUntilShortlyBeforeItsLeaseIsGivenUp() {
		RunResult result = this.runner.run(request(OnShutdown.CANCEL, seconds(20)), (run) -> {
			this.time.advance(seconds(20));
			assertThat(run.isHeld()).isFalse();
			assertMayCommit((LeasedRun) run);
			this.time.advance(Duration.ofMillis(6_999));
			assertMayCommit((LeasedRun) run);
			this.time.advance(Duration.ofMillis(1));
			assertCommitsNothing(run, "max-run");
			assertThat(this.store.count("release")).isZero();
			this.time.advance(seconds(3));
			assertThat(this.store.count("release")).isEqualTo(1);
			assertCommitsNothing(run, "max-run");
			Thread.interrupted();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
	}

	@Test
	void aLeaseThatIsGrantedDuringTheStopIsCancelledBeforeItsBody() {
		for (OnShutdown onShutdown : OnShutdown.values()) {
			SingletonJobRunner[] stopping = new SingletonJobRunner[1];
			ModelStore slow = new ModelStore(this.time) {

				@Override
				public Acquisition tryAcquire(LeaseRequest request) {
					Acquisition answer = super.tryAcquire(request);
					stopping[0].stop(PHASE);
					return answer;
				}

			};
			stopping[0] = runner(slow);
			RunResult result = stopping[0].run(request(onShutdown, null), (run) -> slow.calls.add("body"));
			assertThat(result.outcome()).as(onShutdown.name()).isEqualTo(RunOutcome.CANCELLED);
			assertThat(slow.calls).as(onShutdown.name()).containsExactly("acquire", "release");
			assertThat(slow.released).as(onShutdown.name()).containsOnlyNulls();
		}
	}

	@Test
	void aRunThatMayFinishIsNotTold() {
		RunResult result = run(OnShutdown.FINISH, (run) -> {
			this.runner.stop(PHASE);
			this.time.advance(Duration.ofMillis(26_999));
			assertThat(run.isHeld()).isTrue();
			assertMayCommit(run);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.store.released).containsExactly(FIRING.fireTime());
	}

	@Test
	void aRunThatMayFinishIsCancelledWhenAsMuchAsItsMarginIsLeftOfTheTime() {
		RunResult result = run(OnShutdown.FINISH, (run) -> {
			this.runner.stop(PHASE);
			this.time.advance(seconds(27));
			assertThat(run.isHeld()).isFalse();
			assertThat(Thread.interrupted()).isTrue();
			assertMayCommit(run);
		});
		assertCancelled(result);
	}

	@Test
	void aRunThatMayFinishIsCancelledAtOnceIfTheTimeIsShorterThanItsMargin() {
		assertCancelled(run(OnShutdown.FINISH, (run) -> {
			this.runner.stop(seconds(2));
			this.time.advance(Duration.ofMillis(1));
			assertThat(run.isHeld()).isFalse();
		}));
	}

	@Test
	void aRunThatMayNotFinishIsCancelledAtOnceByTheSameStop() {
		assertCancelled(run(OnShutdown.CANCEL, (run) -> {
			this.runner.stop(PHASE);
			assertThat(run.isHeld()).isFalse();
		}));
	}

	@Test
	void aRunThatMayFinishStartsOtherJobsWhichAreCancelledWithIt() {
		RunResult[] nested = new RunResult[2];
		RunResult result = run(OnShutdown.FINISH, (run) -> {
			this.runner.stop(PHASE);
			assertThatIllegalStateException().as("outside of it").isThrownBy(() -> outside(this.runner));
			RunSettings settings = request(OnShutdown.CANCEL, null).settings();
			nested[0] = this.runner.run(MAILS, settings, (inner) -> assertThat(inner.isHeld()).isTrue());
			nested[1] = this.runner.run(MAILS, settings, (inner) -> {
				this.time.advance(seconds(27));
				assertThat(inner.isHeld()).isFalse();
			});
			Thread.interrupted();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.CANCELLED);
		assertThat(nested[0].outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(nested[1].outcome()).isEqualTo(RunOutcome.CANCELLED);
	}

	@Test
	void aRunThatMayFinishInOneThatMayNotIsCancelledWithIt() {
		assertCancelled(run(OnShutdown.CANCEL, (run) -> {
			RunSettings settings = request(OnShutdown.FINISH, null).settings();
			RunResult nested = this.runner.run(MAILS, settings, (inner) -> this.runner.stop(PHASE));
			assertThat(nested.outcome()).isEqualTo(RunOutcome.CANCELLED);
		}));
	}

	@Test
	void aRunThatMayFinishGoesOnIfTheApplicationDoesNotStopAfterAll() {
		RunResult result = run(OnShutdown.FINISH, (run) -> {
			this.runner.stop(PHASE);
			this.time.advance(seconds(20));
			this.runner.resume();
			this.time.advance(seconds(60));
			assertThat(run.isHeld()).isTrue();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	private static void outside(SingletonJobRunner runner) {
		try (var none = CurrentJobRun.suspend()) {
			runner.run(request(OnShutdown.FINISH, null), (run) -> {
			});
		}
	}

	private static void assertMayCommit(LeasedRun run) {
		assertThatCode(run::ensureOpen).doesNotThrowAnyException();
	}

	private static void assertCommitsNothing(JobRun run, String reason) {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(((LeasedRun) run)::ensureOpen)
			.withMessageContaining(reason);
	}

	private void assertCancelled(RunResult result) {
		assertThat(result.outcome()).isEqualTo(RunOutcome.CANCELLED);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class);
		assertThat(this.store.released).containsOnlyNulls().isNotEmpty();
		assertThat(this.losses).isEmpty();
	}

	private RunResult run(OnShutdown onShutdown, Consumer<LeasedRun> body) {
		return this.runner.run(request(onShutdown, null), (run) -> body.accept((LeasedRun) run));
	}

	private static RunRequest request(OnShutdown onShutdown, @Nullable Duration maxRun) {
		return new RunRequest(BILLING, new RunSettings(TIMING, new RunSettings.Length(null, maxRun), OnLost.INTERRUPT,
				Handover.FAST, onShutdown, false), FIRING);
	}

	private SingletonJobRunner runner(ModelStore leases) {
		Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));
		LeaseKeeper keeper = new LeaseKeeper(leases, scheduling, (run, reason) -> this.losses.add(reason));
		Fence fence = (grant, holder,
				timeout) -> new Fence.Raised(new GrantedFireTime(FIRING, FIRING.fireTime(), false, null));
		return new SingletonJobRunner(leases, fence, keeper, "here");
	}

	private static Duration seconds(long seconds) {
		return Duration.ofSeconds(seconds);
	}

	/** Work that goes on for a while although it is cancelled. */
	private static final class Work extends CompletableFuture<Object> {

		private boolean told;

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.told = true;
			return false;
		}

	}

}
