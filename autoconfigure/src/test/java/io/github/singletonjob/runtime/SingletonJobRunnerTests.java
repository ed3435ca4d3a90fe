package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The sequence of a run on virtual time: ttl 10 s, renewed every 3 s, deadline 7 s after
 * the last confirmed request was sent.
 */
class SingletonJobRunnerTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final LeaseTiming TIMING = new LeaseTiming(seconds(10), seconds(3), seconds(3));

	private static final RunSettings SETTINGS = new RunSettings(TIMING, null, OnLost.INTERRUPT, false);

	private final VirtualTime time = new VirtualTime();

	private final ModelStore store = new ModelStore(this.time);

	private final List<String> losses = new ArrayList<>();

	private final Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));

	private final LeaseKeeper keeper = new LeaseKeeper(this.store, this.scheduling,
			(run, reason) -> this.losses.add(reason));

	@Nullable private Fence fence;

	@Test
	void aRunIsGrantedExecutedAndReleasedInThisOrder() {
		RunResult result = run((run) -> this.store.calls.add("body"));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(result.failure()).isNull();
		assertThat(this.store.calls).containsExactly("acquire", "body", "release");
	}

	@Test
	void aLeaseIsRenewedWhileTheBodyRuns() {
		RunResult result = run((run) -> {
			for (int i = 0; i < 100; i++) {
				this.time.advance(seconds(1));
				assertThat(run.isHeld()).isTrue();
				assertThat(run.remaining()).isGreaterThanOrEqualTo(seconds(4));
			}
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.store.count("renew")).isEqualTo(33);
	}

	@Test
	void nothingIsRenewedAfterTheEnd() {
		run((run) -> this.time.advance(seconds(4)));
		this.time.advance(seconds(100));
		assertThat(this.store.count("renew")).isEqualTo(1);
	}

	@Test
	void threeFailedRenewalsInARowDoNotEndARun() {
		RunResult result = run((run) -> {
			this.store.failingRenewals = 3;
			this.time.advance(seconds(60));
			assertThat(run.isHeld()).isTrue();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void aRenewalThatTheStoreAnswersForOtherLeasesOnlyIsReported(CapturedOutput output) {
		run((run) -> {
			this.store.unansweredRenewals = 2;
			this.time.advance(seconds(6));
		});
		assertThat(output.getOut().lines().filter((line) -> line.contains("billing: renewal failed"))).hasSize(1);
		assertThat(output).contains("billing: renewal works again");
	}

	@Test
	void threeRenewalsWithoutAnAnswerLeaveTimeForAFourth() {
		AtomicInteger renewals = new AtomicInteger();
		this.store.duringRenewal = () -> {
			boolean answers = renewals.incrementAndGet() % 4 == 0;
			this.time.advance(answers ? TIMING.callTimeout().dividedBy(2) : TIMING.callTimeout());
			if (!answers) {
				throw new LeaseStoreException("no answer in time", null);
			}
		};
		RunResult result = run((run) -> this.time.advance(seconds(60)));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(renewals.get()).isGreaterThan(20);
	}

	@Test
	void aFailureOfAnyKindDoesNotEndRenewal() {
		RunResult result = run((run) -> {
			this.store.duringRenewal = () -> {
				this.store.duringRenewal = () -> {
				};
				throw new AssertionError("even this");
			};
			this.time.advance(seconds(60));
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	@Test
	void aRunIsLostAtItsDeadlineAndNotLater() {
		RunResult result = run((run) -> {
			this.store.failingRenewals = 1000;
			this.time.advance(Duration.ofMillis(6999));
			assertThat(run.isHeld()).isTrue();
			this.time.advance(Duration.ofMillis(1));
			assertThat(run.isHeld()).isFalse();
			assertThat(run.remaining()).isZero();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(run::ensureHeld)
				.withMessageContaining("billing");
			assertThat(run.token()).isEqualTo(1);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).hasSize(1);
	}

	@Test
	void aStuckRenewalCannotHideTheDeadline() {
		RunResult result = run((run) -> {
			this.time.stickWorkers();
			this.time.advance(seconds(7));
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(((LeasedRun) run)::ensureOpen);
			this.time.releaseWorkers();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
	}

	@Test
	void theDeadlineCountsFromBeforeTheRequestWasSent() {
		this.store.acquireTakes = seconds(2);
		run((run) -> assertThat(run.remaining()).isEqualTo(seconds(5)));
	}

	@Test
	void theDeadlineOfARenewalCountsFromBeforeItWasSent() {
		run((run) -> {
			this.store.duringRenewal = () -> this.time.freeze(seconds(2));
			this.time.advance(seconds(3));
			assertThat(run.remaining()).isEqualTo(seconds(5));
		});
	}

	@Test
	void aGrantThatCameTooLateIsGivenBackAndCountsAsUnknown() {
		this.store.acquireTakes = seconds(7);
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> run((run) -> this.store.calls.add("body")))
			.withMessageContaining("given back");
		assertThat(this.store.calls).containsExactly("acquire", "release");
	}

	@Test
	void aLeaseThatIsGoneIsLostAtTheNextRenewal() {
		RunResult result = run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			assertThat(run.isHeld()).isFalse();
			this.time.advance(seconds(30));
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.store.count("renew")).isEqualTo(1);
		assertThat(this.losses).hasSize(1);
	}

	@Test
	void aFrozenHolderThatWakesUpIsNotHeldBeforeAnyoneTellsIt() {
		RunResult result = run((run) -> {
			this.time.freeze(seconds(30));
			assertThat(run.isHeld()).isFalse();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(run::ensureHeld);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).hasSize(1);
	}

	@Test
	void aLossInterruptsTheThreadOfTheBodyOnce() {
		run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			assertThat(Thread.interrupted()).isTrue();
			this.time.advance(seconds(30));
			assertThat(Thread.interrupted()).isFalse();
		});
	}

	@Test
	void aLossDoesNotInterruptWhenTheJobWantsASignal() {
		RunSettings signal = new RunSettings(TIMING, null, OnLost.SIGNAL, false);
		RunResult result = runner().run(BILLING, signal, (run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			assertThat(run.isHeld()).isFalse();
			assertThat(Thread.interrupted()).isFalse();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
	}

	@Test
	void theInterruptOfALossDoesNotOutliveTheRun() {
		run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
		});
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aForeignInterruptIsRestoredAfterTheRelease() {
		run((run) -> Thread.currentThread().interrupt());
		assertThat(Thread.interrupted()).isTrue();
		RunResult result = run((run) -> {
			throw new InterruptedException("by a pool that shuts down");
		});
		assertThat(Thread.interrupted()).isTrue();
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
	}

	@Test
	void aLostRunWhoseBodyReturnsNormallyIsNotCompleted() {
		RunResult result = run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			Thread.interrupted();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class);
	}

	@Test
	void whatTheBodyOfALostRunThrowsIsTheCauseOfTheLoss() {
		IllegalStateException own = new IllegalStateException("connection closed under me");
		RunResult result = run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			throw own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class).hasCause(own);
	}

	@Test
	void aRefusedRunWhoseBodySwallowsTheExceptionIsNotCompleted() {
		RunResult result = run((run) -> {
			try {
				StaleTokenException refusal = new StaleTokenException("billing", 1, "refused: newer token 2");
				((LeasedRun) run).refused(refusal);
				throw refusal;
			}
			catch (StaleTokenException ex) {
				assertThat(run.isHeld()).isFalse();
			}
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).singleElement().asString().contains("refused");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void aRefusalIsToldInOneSentence(CapturedOutput output) {
		RunResult result = run((run) -> ((LeasedRun) run).refused(
				new StaleTokenException("billing", 1, "billing: the database refused token 1: holder web-2 has token 2"
						+ "; the transaction was rolled back, nothing of it was written")));
		assertThat(result.failure()).hasMessage(
				"billing: the database refused token 1: holder web-2 has token 2. What this run has not committed"
						+ " is not written any more. Stop here: another holder is at work");
		assertThat(output.getAll().lines().filter((line) -> line.contains("LOST"))).singleElement()
			.asString()
			.contains("billing: LOST the lease with token 1, last confirmed ")
			.endsWith(" ms ago: the database refused token 1: holder web-2 has token 2. Its body was told");
	}

	@Test
	void whatStoppedTheBodyIsToldInOneSentence() {
		RunResult result = run((run) -> {
			this.time.stepWallClock(seconds(60));
			try {
				run.ensureHeld();
			}
			catch (LeaseLostException ex) {
				throw new IllegalStateException("cannot go on", ex);
			}
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).singleElement()
			.asString()
			.endsWith(
					"its body has stopped, because the wall clock jumped ahead (a suspended machine?) and its lease is not"
							+ " confirmed since");
	}

	@Test
	void aCancelledRunWhoseBodyReturnsNormallyIsNotCompleted() {
		SingletonJobRunner runner = runner();
		RunResult result = runner.run(BILLING, SETTINGS, (run) -> {
			runner.cancelAll();
			assertThat(run.isHeld()).isFalse();
			this.time.advance(seconds(60));
			assertThat(this.store.count("release")).isZero();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.CANCELLED);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class);
		assertThat(this.losses).isEmpty();
		assertThat(this.store.count("renew")).isGreaterThan(10);
	}

	@Test
	void nothingStartsWhileTheApplicationStops() throws Exception {
		SingletonJobRunner runner = runner();
		runner.cancelAll();
		assertThatIllegalStateException().isThrownBy(() -> runner.run(BILLING, SETTINGS, (run) -> {
		})).withMessageContaining("stopping");
		assertThat(runner.awaitIdle(Duration.ZERO)).isTrue();
		assertThat(this.store.calls).isEmpty();
	}

	@Test
	void aLeaseThatWasNotOursAtTheReleaseMakesTheRunLost() {
		RunResult result = run((run) -> {
			this.time.stepWallClock(seconds(-100));
			this.store.release(((LeasedRun) run).grant());
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).hasSize(1);
	}

	@Test
	void aWallClockThatJumpedAheadMakesTheLeaseUnconfirmedUntilItIsRenewed() {
		RunResult result = run((run) -> {
			this.time.stepWallClock(seconds(60));
			assertThat(run.isHeld()).isFalse();
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(run::ensureHeld);
			((LeasedRun) run).ensureOpen();
			this.time.advance(seconds(3));
			assertThat(run.isHeld()).isTrue();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	/**
	 * The lane of both runs renews next at 6 s, the watchdog of the second looks at 4.5.
	 */
	@Test
	void theWatchdogHasALeaseRenewedAtOnceAfterTheMachineWasSuspended() {
		SingletonJobRunner runner = runner();
		run((outer) -> {
			this.time.advance(Duration.ofMillis(1500));
			runner.run(new JobId("shop", "mails"), SETTINGS, (inner) -> {
				this.time.advance(Duration.ofMillis(2500));
				this.time.stepWallClock(seconds(60));
				assertThat(inner.isHeld()).isFalse();
				this.time.advance(Duration.ofMillis(500));
				assertThat(inner.isHeld()).isTrue();
				assertThat(outer.isHeld()).isTrue();
			});
		});
		assertThat(this.store.count("renew")).isEqualTo(2);
	}

	@Test
	void aLeaseThatIsNotConfirmedAfterASuspensionIsOverdueForHealth() {
		run((run) -> {
			assertThat(this.keeper.held()).singleElement().returns(false, HeldLease::overdue);
			this.time.stepWallClock(seconds(60));
			assertThat(this.keeper.held()).singleElement().returns(true, HeldLease::overdue);
			this.time.advance(seconds(3));
			assertThat(this.keeper.held()).singleElement().returns(false, HeldLease::overdue);
		});
	}

	/** The store keeps the lease for 10 s, the holder may rely on it for 7. */
	@Test
	void aBodyThatReturnsPastItsDeadlineIsLostAlthoughTheStoreStillHasItsLease() {
		RunResult result = run((run) -> this.time.freeze(seconds(8)));
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).singleElement().asString().contains("ended unrenewed");
	}

	@Test
	void aWallClockThatWasSetBackChangesNothing() {
		RunResult result = run((run) -> {
			this.time.stepWallClock(seconds(-3600));
			assertThat(run.isHeld()).isTrue();
			this.time.advance(seconds(60));
			assertThat(run.isHeld()).isTrue();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	@Test
	void aFailingReleaseDoesNotReplaceTheExceptionOfTheBody() {
		this.store.failingReleases = 1;
		RunResult result = run((run) -> {
			throw new IllegalArgumentException("of the body");
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(result.failure()).isInstanceOf(IllegalArgumentException.class);
		assertThat(result.failure().getSuppressed()).hasSize(1);
	}

	@Test
	void aFailedReleaseIsRepeatedUntilItIsConfirmed() {
		this.store.failingReleases = 2;
		run((run) -> {
		});
		this.time.advance(seconds(60));
		assertThat(this.store.count("release")).isEqualTo(3);
	}

	@Test
	void aFailedReleaseIsNotRepeatedAfterTheLeaseHasExpired() {
		this.store.failingReleases = 1000;
		run((run) -> {
		});
		this.time.advance(seconds(600));
		assertThat(this.store.count("release")).isLessThan(20);
	}

	@Test
	void aLateReplyToARenewalAfterTheReleaseChangesNothing() {
		RunResult result = run((run) -> {
			this.time.stickWorkers();
			this.time.advance(seconds(4));
		});
		this.time.releaseWorkers();
		this.time.advance(seconds(60));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
	}

	@Test
	void aJobHeldElsewhereIsSkippedWithOneCall() {
		run((run) -> {
			RunResult second = onAnotherThread(() -> run((inner) -> this.store.calls.add("second body")));
			assertThat(second.outcome()).isEqualTo(RunOutcome.SKIPPED_HELD);
		});
		assertThat(this.store.calls).containsExactly("acquire", "acquire", "release");
	}

	@Test
	void aJobThatStartsItselfOnItsOwnThreadIsRefused() {
		RunResult result = run((run) -> run((inner) -> {
		}));
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(result.failure()).isInstanceOf(IllegalStateException.class).hasMessageContaining("starts itself");
	}

	@Test
	void otherJobsNestAndTheOuterRunIsCurrentAgainAfterwards() {
		SingletonJobRunner runner = runner();
		RunResult result = runner.run(BILLING, SETTINGS, (outer) -> {
			runner.run(new JobId("shop", "statements"), SETTINGS, (inner) -> {
				assertThat(JobRun.current()).isSameAs(inner);
				assertThat(((LeasedRun) inner).enclosing()).containsSame((LeasedRun) outer);
			});
			assertThat(JobRun.current()).isSameAs(outer);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(CurrentJobRun.find()).isEmpty();
		assertThatIllegalStateException().isThrownBy(JobRun::current).withMessageContaining("CurrentJobRun.open");
	}

	@Test
	void aRunThatHasEndedRefusesItsCommits() {
		JobRun[] kept = new JobRun[1];
		run((run) -> kept[0] = run);
		assertThat(kept[0].isHeld()).isFalse();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(((LeasedRun) kept[0])::ensureOpen)
			.withMessageContaining("has ended");
	}

	@Test
	void aRunThatExceedsItsLimitIsCancelledAndItsLeaseGivenUpOneTtlLater() {
		RunSettings limited = new RunSettings(TIMING, seconds(20), OnLost.INTERRUPT, false);
		RunResult result = runner().run(BILLING, limited, (run) -> {
			this.time.advance(seconds(20));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(run.isHeld()).isFalse();
			this.time.advance(Duration.ofMillis(9_900));
			assertThat(this.store.count("release")).isZero();
			this.time.advance(Duration.ofMillis(100));
			assertThat(this.store.count("release")).isEqualTo(1);
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class).hasMessageContaining("max-run");
	}

	@Test
	void theLeaseOfALostRunWhoseBodyGoesOnIsGivenBackWhenItsTimeIsOver() {
		run((run) -> {
			this.store.failingRenewals = 1000;
			this.time.advance(seconds(7));
			assertThat(this.store.count("release")).isZero();
			this.time.advance(seconds(3));
			assertThat(this.store.count("release")).isEqualTo(1);
		});
	}

	@Test
	void theFenceIsRaisedAfterTheGrantAndBeforeTheBody() {
		this.fence = (grant, holder, timeout) -> {
			this.store.calls.add("raise " + grant.token());
			return new Fence.Raised(null);
		};
		run((run) -> this.store.calls.add("body"));
		assertThat(this.store.calls).containsExactly("acquire", "raise 1", "body", "release");
	}

	@Test
	void aLeaseIsKeptWhileTheFenceIsRaised() {
		this.fence = (grant, holder, timeout) -> {
			this.time.advance(seconds(15));
			return new Fence.Raised(null);
		};
		RunResult result = run((run) -> assertThat(run.isHeld()).isTrue());
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	@Test
	void aGrantBelowTheFenceIsGivenBackAndAskedForAgainAboveIt() {
		this.fence = (grant, holder, timeout) -> (grant.token() > 41) ? new Fence.Raised(null) : new Fence.Refused(41);
		RunResult result = run((run) -> assertThat(run.token()).isEqualTo(42));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.store.calls).containsExactly("acquire", "release", "acquire", "release");
	}

	@Test
	void aGrantThatStaysBelowTheFenceNeverReachesTheBody() {
		this.fence = (grant, holder, timeout) -> new Fence.Refused(grant.token() + 10);
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> run((run) -> this.store.calls.add("body")))
			.withMessageContaining("stale");
		assertThat(this.store.calls).containsExactly("acquire", "release", "acquire", "release");
	}

	@Test
	void aFenceThatCannotBeRaisedGivesTheLeaseBack() {
		this.fence = (grant, holder, timeout) -> {
			throw new LeaseStoreException("database down", null);
		};
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> run((run) -> this.store.calls.add("body")))
			.withMessageContaining("database down");
		assertThat(this.store.calls).containsExactly("acquire", "release");
	}

	@Test
	void aLeaseThatWasLostWhileTheFenceWasRaisedNeverReachesTheBody() {
		this.fence = (grant, holder, timeout) -> {
			this.time.freeze(seconds(30));
			return new Fence.Raised(null);
		};
		RunResult result = run((run) -> this.store.calls.add("body"));
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.store.calls).containsExactly("acquire", "release");
	}

	@Test
	void anErrorOfTheBodyIsThrownAfterTheRelease() {
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> run((run) -> {
			throw new StackOverflowError();
		}));
		assertThat(this.store.calls).containsExactly("acquire", "renew", "release");
	}

	private RunResult run(JobBody body) {
		return runner().run(BILLING, SETTINGS, body);
	}

	private SingletonJobRunner runner() {
		return new SingletonJobRunner(this.store, this.fence, this.keeper, "here");
	}

	private static RunResult onAnotherThread(java.util.function.Supplier<RunResult> work) {
		return java.util.concurrent.CompletableFuture.supplyAsync(work)
			.orTimeout(10, java.util.concurrent.TimeUnit.SECONDS)
			.join();
	}

	private static Duration seconds(long seconds) {
		return Duration.ofSeconds(seconds);
	}

}
