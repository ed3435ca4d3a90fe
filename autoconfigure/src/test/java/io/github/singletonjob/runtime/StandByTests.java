package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an instance does that waits to take over, on virtual time.
 */
class StandByTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final LeaseTiming TIMING = LeaseTiming.of(Duration.ofSeconds(10), null, null);

	private static final RunSettings SETTINGS = new RunSettings(TIMING, null, OnLost.INTERRUPT, false);

	private static final Instant ONE = Instant.parse("2026-03-01T01:00:00Z");

	private final VirtualTime time = new VirtualTime();

	private final InMemoryLeaseStore store = new InMemoryLeaseStore(this.time::nanoTime);

	private final Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));

	private final List<String> runs = new ArrayList<>();

	private @Nullable Fence fence;

	private JobBody body = (run) -> {
	};

	@Test
	void anOpenFireTimeIsFinishedAtStart() {
		leaveOpen(ONE);
		standBy("");
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
	}

	@Test
	void withNothingOpenNothingIsDone() {
		standBy("");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).isEmpty();
		assertThat(this.store.inspect(BILLING, Duration.ofSeconds(1)).token()).isZero();
	}

	@Test
	void aFireTimeIsFinishedWhenItsHolderFallsSilent() {
		LeaseGrant silent = acquire(new Firing("", ONE, true));
		standBy("");
		this.time.advance(Duration.ofSeconds(9));
		assertThat(this.runs).isEmpty();
		this.time.advance(Duration.ofMillis(1100));
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
		assertThat(this.store.release(silent, ONE)).isFalse();
	}

	@Test
	void aReleaseWakesTheStandBy() {
		LeaseGrant grant = acquire(new Firing("", ONE, true));
		standBy("");
		this.store.release(grant, null);
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
	}

	@Test
	void aFireTimeThatItsHolderCompletesIsNotRepeated() {
		LeaseGrant grant = acquire(new Firing("", ONE, true));
		standBy("");
		this.store.release(grant, ONE);
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).isEmpty();
	}

	@Test
	void aBodyThatThrowsHasCompletedAndIsNotRepeated() {
		leaveOpen(ONE);
		this.body = (run) -> {
			throw new IllegalStateException("no paper");
		};
		standBy("");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).containsExactly(ONE + " takeover FAILED");
	}

	@Test
	void aRunThatIsLostIsFinishedLater() {
		leaveOpen(ONE);
		this.body = (run) -> {
			this.body = (again) -> {
			};
			this.store.lose("billing");
			this.time.advance(Duration.ofSeconds(4));
			assertThat(run.isHeld()).isFalse();
		};
		standBy("");
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.runs).containsExactly(ONE + " takeover LOST", ONE + " takeover COMPLETED");
	}

	@Test
	void whatOnlyTheDatabaseRemembersIsFinished() {
		Map<String, FireTimes> known = Map.of("", new FireTimes(ONE, null));
		this.fence = new Fence() {

			@Override
			public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
				return new Raised(grant.fireTime());
			}

			@Override
			public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
				return known;
			}

		};
		standBy("");
		assertThat(this.runs).containsExactly(ONE + " COMPLETED");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void scheduleThatThisInstanceDoesNotKnowAreLeftAlone() {
		LeaseGrant grant = acquire(new Firing("0 0 2 * * *", ONE, true));
		this.store.release(grant, null);
		standBy("");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).isEmpty();
	}

	@Test
	void itWaitsNoLongerThanItsOwnLookWhenItIsTold() {
		StandBy standBy = standBy("");
		leaveOpen(ONE);
		assertThat(this.runs).isEmpty();
		standBy.look(BILLING, new Firing("", ONE, true));
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
	}

	@Test
	void aFiringThatAnExtraRunWasInTheWayOfIsMadeUpFor() {
		LeaseGrant extra = acquire(null);
		StandBy standBy = standBy("");
		standBy.look(BILLING, new Firing("", ONE, true));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.runs).isEmpty();
		this.store.release(extra, null);
		assertThat(this.runs).containsExactly(ONE + " COMPLETED");
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void aFiringThatComesWhileAnEarlierRunGoesOnIsSkipped() {
		LeaseGrant earlier = acquire(new Firing("", ONE, true));
		StandBy standBy = standBy("");
		standBy.look(BILLING, new Firing("", ONE.plusSeconds(60), true));
		this.time.advance(Duration.ofSeconds(3));
		this.store.release(earlier, ONE);
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).isEmpty();
	}

	@Test
	void aFiringThatAnotherInstanceHasMadeUpForIsNotRepeated() {
		LeaseGrant extra = acquire(null);
		StandBy standBy = standBy("");
		standBy.look(BILLING, new Firing("", ONE, true));
		this.store.release(extra, null);
		assertThat(this.runs).hasSize(1);
		standBy.look(BILLING, new Firing("", ONE, true));
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void afterItsCloseItDoesNothing() {
		LeaseGrant grant = acquire(new Firing("", ONE, true));
		StandBy standBy = standBy("");
		standBy.close();
		this.store.release(grant, null);
		standBy.look(BILLING, new Firing("", ONE, true));
		this.time.advance(Duration.ofHours(1));
		assertThat(this.runs).isEmpty();
	}

	@Test
	void aStoreThatDoesNotAnswerIsAskedAgain() {
		leaveOpen(ONE);
		int[] asked = new int[1];
		StandBy standBy = new StandBy(new FailingStore(this.store, () -> asked[0]++ < 3), null, this.scheduling);
		standBy.add(new StandByJob(BILLING, TIMING, Set.of(""), this::attempt));
		assertThat(this.runs).isEmpty();
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
	}

	@Test
	void anUnreachableStoreIsAskedLessAndLessOften() {
		int[] asked = new int[1];
		StandBy standBy = new StandBy(new FailingStore(this.store, () -> asked[0]++ >= 0), null, this.scheduling);
		standBy.add(new StandByJob(BILLING, TIMING, Set.of(""), this::attempt));
		this.time.advance(Duration.ofMinutes(10));
		assertThat(asked[0]).isBetween(10, 40);
	}

	@Test
	void aStandByThatGetsNoThreadTriesAgainAfterAPause() {
		leaveOpen(ONE);
		int[] asked = new int[1];
		Scheduling scarce = new Scheduling(this.time, this.time, (task) -> {
			if (asked[0]++ < 3) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			this.time.execute(task);
		}, new SplittableRandom(1));
		StandBy standBy = new StandBy(this.store, this.fence, scarce);
		standBy.add(new StandByJob(BILLING, TIMING, Set.of(""), this::attempt));
		assertThat(asked[0]).isEqualTo(1);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.runs).containsExactly(ONE + " takeover COMPLETED");
	}

	@Test
	void aContinuousJobIsStartedAgainAfterItReturned() {
		standBy();
		assertThat(this.runs).containsExactly("COMPLETED");
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.runs).hasSizeBetween(8, 12);
	}

	@Test
	void aContinuousJobThatFailsIsStartedAgainLessAndLessOften() {
		this.body = (run) -> {
			throw new IllegalStateException("no certificate");
		};
		standBy();
		this.time.advance(Duration.ofMinutes(10));
		assertThat(this.runs).hasSizeBetween(12, 40);
	}

	@Test
	void aContinuousJobStartsWhereItsHolderFellSilent() {
		acquire(null);
		standBy();
		assertThat(this.runs).isEmpty();
		this.time.advance(Duration.ofMillis(10_100));
		assertThat(this.runs).containsExactly("COMPLETED");
	}

	private StandBy standBy(String... schedules) {
		StandBy standBy = new StandBy(this.store, this.fence, this.scheduling);
		standBy.add(new StandByJob(BILLING, TIMING, Set.of(schedules), this::attempt));
		return standBy;
	}

	private RunResult attempt(@Nullable Firing firing) {
		LeaseKeeper keeper = new LeaseKeeper(this.store, this.scheduling, (run, reason) -> {
		});
		SingletonJobRunner runner = new SingletonJobRunner(this.store, this.fence, keeper, "server-2");
		boolean[] takeover = new boolean[1];
		RunResult result = runner.run(new RunRequest(BILLING, SETTINGS, firing), (run) -> {
			takeover[0] = run.isTakeover();
			this.body.execute(run);
		});
		if (result.outcome() != RunOutcome.SKIPPED_HELD) {
			this.runs.add(((result.fireTime() != null) ? result.fireTime() + " " : "")
					+ (takeover[0] ? "takeover " : "") + result.outcome());
		}
		return result;
	}

	private LeaseGrant acquire(@Nullable Firing firing) {
		LeaseRequest request = new LeaseRequest(BILLING, java.util.UUID.randomUUID().toString(), "server-1",
				TIMING.ttl(), TIMING.callTimeout(), 0, firing);
		return ((Acquisition.Acquired) this.store.tryAcquire(request)).grant();
	}

	private void leaveOpen(Instant fireTime) {
		this.store.release(acquire(new Firing("", fireTime, true)), null);
	}

}
