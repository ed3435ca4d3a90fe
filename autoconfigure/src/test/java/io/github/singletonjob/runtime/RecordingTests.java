package io.github.singletonjob.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.github.singletonjob.Handover;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What lies between the end of a body and the release of its lease, on virtual time.
 */
class RecordingTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final Firing FIRING = new Firing("", Instant.parse("2026-03-01T01:00:00Z"), true);

	private static final LeaseTiming TIMING = new LeaseTiming(Duration.ofSeconds(10), Duration.ofSeconds(3),
			Duration.ofSeconds(3));

	private final VirtualTime time = new VirtualTime();

	private final Scheduling scheduling = new Scheduling(this.time, this.time, this.time, new SplittableRandom(1));

	private final List<String> losses = new ArrayList<>();

	/** The guarded database needs longer than a lease lasts. */
	@Test
	void aLeaseIsRenewedWhileItsCompletionIsRecorded() {
		ModelStore store = new ModelStore(this.time);
		RunResult result = run(store, new SlowFence(this.time, Duration.ofSeconds(12)), null, Duration.ZERO);
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
		assertThat(store.count("renew")).isGreaterThan(2);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(store.calls).endsWith("release");
	}

	/** The lease is due while the store is still told of what was completed. */
	@Test
	void aLeaseThatWasHeldOnIsNotReleasedBeforeItsCompletionIsRecorded() {
		ModelStore store = new ModelStore(this.time) {

			@Override
			public boolean complete(LeaseGrant grant, Instant completed) {
				VirtualTime time = RecordingTests.this.time;
				time.advance(Duration.ofSeconds(2));
				return count("release") == 0;
			}

		};
		RunResult result = run(store, new SlowFence(this.time, Duration.ZERO), Duration.ofSeconds(5),
				Duration.ofSeconds(4));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(this.losses).isEmpty();
		this.time.advance(Duration.ofMillis(1));
		assertThat(store.count("release")).isEqualTo(1);
	}

	@Test
	void aReleaseThatIsRepeatedStillSaysWhatWasCompleted() {
		ModelStore store = new ModelStore(this.time);
		store.failingReleases = 2;
		RunResult result = run(store, new SlowFence(this.time, Duration.ZERO), null, Duration.ZERO);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		assertThat(store.released).hasSize(3).containsOnly(FIRING.fireTime());
	}

	private RunResult run(ModelStore store, Fence fence, @Nullable Duration minHold, Duration length) {
		LeaseKeeper keeper = new LeaseKeeper(store, this.scheduling, (run, reason) -> this.losses.add(reason));
		RunSettings settings = new RunSettings(TIMING, new RunSettings.Length(minHold, null), OnLost.INTERRUPT,
				Handover.FAST, OnShutdown.CANCEL, false);
		return new SingletonJobRunner(store, fence, keeper, "server-1").run(new RunRequest(BILLING, settings, FIRING),
				(run) -> this.time.advance(length));
	}

	/**
	 * A guarded database. It says which fire time it is, since the model store keeps
	 * none.
	 *
	 * @param time passes meanwhile
	 * @param takes how long it takes to record a completion
	 */
	private record SlowFence(VirtualTime time, Duration takes) implements Fence {

		@Override
		public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
			return new Raised(new GrantedFireTime(FIRING, FIRING.fireTime(), false, null));
		}

		@Override
		public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
			this.time.advance(this.takes);
			return Completion.RECORDED;
		}

	}

}
