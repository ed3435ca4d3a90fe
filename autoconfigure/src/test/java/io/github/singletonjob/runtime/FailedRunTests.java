package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.lease.Renewal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A body that throws, in all orders with what the store and the guarded database say of
 * its lease. On virtual time where nothing else is said: ttl 10 s, renewed every 3 s,
 * margin 3 s.
 */
@Timeout(30)
class FailedRunTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final Firing FIRING = new Firing("", Instant.parse("2026-03-01T01:00:00Z"), true);

	private static final LeaseTiming TIMING = new LeaseTiming(seconds(10), seconds(3), seconds(3));

	private final IllegalStateException own = new IllegalStateException("connection closed under me");

	private final VirtualTime time = new VirtualTime();

	private final ModelStore store = new ModelStore(this.time);

	private final GuardedDatabase database = new GuardedDatabase();

	private final List<String> losses = new ArrayList<>();

	@Test
	void aFailureThatTheStoreConfirmsIsRecordedForOneRenewal() {
		RunResult result = run((run) -> {
			this.time.advance(seconds(1));
			throw this.own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(result.failure()).isSameAs(this.own);
		assertThat(this.store.calls).containsExactly("acquire", "renew", "release");
		assertRecorded();
	}

	@Test
	void aSuccessIsRecordedWithoutARenewal() {
		assertThat(run((run) -> this.time.advance(seconds(1))).outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.store.calls).containsExactly("acquire", "release");
		assertRecorded();
	}

	@Test
	void aBodyThatThrowsBeforeItsLossIsKnownIsLost() {
		RunResult result = run((run) -> {
			this.store.gone = true;
			throw this.own;
		});
		assertLost(result);
		assertThat(result.failure()).isInstanceOf(LeaseLostException.class).hasCause(this.own);
		assertThat(this.store.count("renew")).isEqualTo(1);
	}

	@Test
	void aBodyThatThrowsAfterItsLossIsKnownIsLostAndAsksNoMore() {
		RunResult result = run((run) -> {
			this.store.gone = true;
			this.time.advance(seconds(3));
			throw this.own;
		});
		assertLost(result);
		assertThat(this.store.count("renew")).isEqualTo(1);
	}

	@Test
	void aBodyWhoseLossBecomesKnownWhileTheStoreIsAskedIsLost() {
		RunResult result = run((run) -> {
			this.store.duringRenewal = () -> {
				((LeasedRun) run).refused(new StaleTokenException("billing", 1, "newer token 2"));
				throw new LeaseStoreException("no answer", null);
			};
			throw this.own;
		});
		assertLost(result);
		assertThat(this.time.nanoTime()).as("does not wait for the deadline").isLessThan(seconds(2).toNanos());
	}

	@Test
	void aStoreThatAnswersInTheEndConfirmsAFailure() {
		RunResult result = run((run) -> {
			this.store.failingRenewals = 3;
			throw this.own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(this.store.count("renew")).isEqualTo(4);
		assertRecorded();
	}

	@Test
	void aStoreThatDoesNotAnswerForThisLeaseIsAskedAgain() {
		RunResult result = run((run) -> {
			this.store.unansweredRenewals = 1;
			throw this.own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertRecorded();
	}

	@Test
	void aFailureThatTheStoreHasNotConfirmedAtTheDeadlineIsLost() {
		long begun = this.time.nanoTime();
		RunResult result = run((run) -> {
			this.time.advance(seconds(1));
			this.store.failingRenewals = 1000;
			throw this.own;
		});
		assertLost(result);
		assertThat(Duration.ofNanos(this.time.nanoTime() - begun)).isEqualTo(seconds(7));
	}

	@Test
	void aFailureOfAHolderThatWasFrozenBeyondItsDeadlineIsLost() {
		assertLost(run((run) -> {
			this.time.freeze(seconds(8));
			throw this.own;
		}));
	}

	@Test
	void aFailureThatTheGuardedDatabaseRefusesIsLost() {
		this.database.answer = Fence.Completion.REFUSED;
		RunResult result = run((run) -> {
			throw this.own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.store.released).containsOnlyNulls().hasSize(1);
	}

	@Test
	void aFailureThatTheGuardedDatabaseDoesNotAnswerIsLostAlsoIfTheStoreConfirmsIt() {
		this.database.answer = null;
		RunResult result = run((run) -> {
			throw this.own;
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(result.failure()).hasCause(this.own);
		assertThat(this.losses).singleElement().asString().contains("guarded database did not answer");
		assertThat(this.store.released).containsOnlyNulls().hasSize(1);
	}

	@Test
	void aSuccessThatTheGuardedDatabaseDoesNotAnswerIsRememberedByTheStore() {
		this.database.answer = null;
		assertThat(run((run) -> {
		}).outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.store.released).containsExactly(FIRING.fireTime());
	}

	@Test
	void anErrorIsConfirmedAsAnExceptionIs() {
		this.store.gone = true;
		assertThat(catchThrowable(() -> run((run) -> {
			throw new StackOverflowError();
		}))).isInstanceOf(StackOverflowError.class);
		assertThat(this.losses).hasSize(1);
		assertThat(this.database.completed).isZero();
	}

	@Test
	void aThreadThatWasInterruptedByOthersWaitsForTheAnswerAndStaysInterrupted() {
		RunResult result = run((run) -> {
			this.store.failingRenewals = 2;
			Thread.currentThread().interrupt();
			throw this.own;
		});
		assertThat(Thread.interrupted()).isTrue();
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertRecorded();
	}

	@Test
	void aStageThatFailsBeforeItsLossIsKnownIsLost() {
		CompletableFuture<Object> work = new CompletableFuture<>();
		CompletionStage<RunResult> ended = runner().start(request(null), (run) -> work);
		this.store.gone = true;
		work.completeExceptionally(this.own);
		assertLost(ended.toCompletableFuture().join());
	}

	@Test
	void aStageThatFailsWhileItsLeaseIsHeldHasFailed() {
		CompletableFuture<Object> work = new CompletableFuture<>();
		CompletionStage<RunResult> ended = runner().start(request(null), (run) -> work);
		work.completeExceptionally(this.own);
		assertThat(ended.toCompletableFuture().join().outcome()).isEqualTo(RunOutcome.FAILED);
		assertRecorded();
	}

	@Test
	void aRunOverItsLimitWhoseLeaseHasGoneLeavesItsFireTimeOpen() {
		RunResult result = runner().run(request(seconds(20)), (run) -> {
			this.time.advance(seconds(20));
			this.store.gone = true;
			Thread.interrupted();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertThat(this.store.released).containsOnlyNulls();
		assertThat(this.database.completed).isZero();
	}

	@Test
	void aRunOverItsLimitThatDoesNotEndAndWhoseLeaseHasGoneLeavesItsFireTimeOpen() {
		runner().run(request(seconds(20)), (run) -> {
			this.time.advance(seconds(20));
			this.store.gone = true;
			Thread.interrupted();
			this.time.advance(seconds(20));
			assertThat(this.database.completed).isZero();
		});
		assertThat(this.store.released).containsOnlyNulls();
	}

	@Test
	void aRunOverItsLimitThatStillHasItsLeaseIsRecordedAsFailed() {
		RunResult result = runner().run(request(seconds(20)), (run) -> {
			this.time.advance(seconds(21));
			Thread.interrupted();
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.FAILED);
		assertRecorded();
	}

	/** On real time, because the renewal is on its way while the body throws. */
	@Test
	void aRenewalThatWasSentBeforeTheBodyThrewConfirmsNothing() throws Exception {
		CountDownLatch sent = new CountDownLatch(1);
		CountDownLatch thrown = new CountDownLatch(1);
		AtomicInteger renewals = new AtomicInteger();
		ModelStore slow = new ModelStore(this.time) {

			@Override
			public List<Renewal> renew(List<LeaseGrant> grants) {
				if (renewals.incrementAndGet() > 1) {
					return List.of(Renewal.GONE);
				}
				sent.countDown();
				try {
					assertThat(thrown.await(20, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return List.of(Renewal.EXTENDED);
			}

		};
		LeaseTiming quick = new LeaseTiming(seconds(20), Duration.ofMillis(100), seconds(3));
		try (DaemonThreads threads = new DaemonThreads()) {
			JobTimer timer = new JobTimer() {

				@Override
				public Runnable after(Duration delay, Runnable task) {
					return threads.after(delay, task);
				}

				@Override
				public void await(CompletableFuture<?> done, Duration atMost) throws InterruptedException {
					thrown.countDown();
					threads.await(done, atMost);
				}

			};
			Scheduling scheduling = new Scheduling(new SystemClock(), timer, threads, new SplittableRandom(1));
			LeaseKeeper keeper = new LeaseKeeper(slow, scheduling, (run, reason) -> this.losses.add(reason));
			RunSettings settings = new RunSettings(quick, null, OnLost.INTERRUPT, false);
			RunResult result = new SingletonJobRunner(slow, this.database, keeper, "here")
				.run(new RunRequest(BILLING, settings, FIRING), (run) -> {
					assertThat(sent.await(20, TimeUnit.SECONDS)).isTrue();
					throw this.own;
				});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(renewals).hasValue(2);
			assertThat(this.database.completed).isZero();
		}
	}

	private void assertRecorded() {
		assertThat(this.database.completed).isEqualTo(1);
		assertThat(this.store.released).containsExactly(FIRING.fireTime());
		assertThat(this.losses).isEmpty();
	}

	private void assertLost(RunResult result) {
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
		assertThat(this.losses).hasSize(1);
		assertThat(this.database.completed).isZero();
		assertThat(this.store.released).containsOnlyNulls().isNotEmpty();
	}

	private RunResult run(JobBody body) {
		return runner().run(request(null), body);
	}

	private static RunRequest request(@Nullable Duration maxRun) {
		return new RunRequest(BILLING, new RunSettings(TIMING, maxRun, OnLost.INTERRUPT, false), FIRING);
	}

	private SingletonJobRunner runner() {
		Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));
		LeaseKeeper keeper = new LeaseKeeper(this.store, scheduling, (run, reason) -> this.losses.add(reason));
		return new SingletonJobRunner(this.store, this.database, keeper, "here");
	}

	private static Duration seconds(long seconds) {
		return Duration.ofSeconds(seconds);
	}

	/**
	 * Says which fire time it is, since the model store keeps none.
	 */
	private static final class GuardedDatabase implements Fence {

		/** Null for none. */
		private @Nullable Completion answer = Completion.RECORDED;

		private int completed;

		@Override
		public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
			return new Raised(new GrantedFireTime(FIRING, FIRING.fireTime(), false, null));
		}

		@Override
		public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
			this.completed++;
			if (this.answer == null) {
				throw new LeaseStoreException("no answer from the database", null);
			}
			return this.answer;
		}

	}

}
