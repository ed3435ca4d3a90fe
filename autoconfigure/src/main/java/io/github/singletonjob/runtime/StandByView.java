package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.Map;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseWatch;
import org.jspecify.annotations.Nullable;

/**
 * What a stand-by sees of its job.
 *
 * @param store knows who holds the job, and what is open
 * @param fence is asked if the store knows of nothing open, which it may have forgotten
 * @param job the job
 */
record StandByView(LeaseStore store, @Nullable Fence fence, StandByJob job) {

	private static final Duration LONGEST_POLL = Duration.ofSeconds(10);

	LeaseRecord inspect() {
		return this.store.inspect(this.job.id(), this.job.timing().callTimeout());
	}

	/** What could be finished, or null. */
	@Nullable Firing open(LeaseRecord record) {
		Firing open = open(record.fireTimes(), Map.of());
		if (open != null || this.fence == null) {
			return open;
		}
		return open(this.fence.fireTimes(this.job.id(), this.job.timing().callTimeout()), record.fireTimes());
	}

	private @Nullable Firing open(Map<String, FireTimes> known, Map<String, FireTimes> more) {
		for (String schedule : this.job.schedules()) {
			FireTimes times = known.getOrDefault(schedule, FireTimes.NONE)
				.and(more.getOrDefault(schedule, FireTimes.NONE));
			if (times.open().isPresent()) {
				return new Firing(schedule, times.open().get(), true);
			}
		}
		return null;
	}

	/** Whether a firing has something to run, as far as the store knows. */
	boolean isDue(Firing firing, LeaseRecord record) {
		return record.fireTimes().getOrDefault(firing.schedule(), FireTimes.NONE).decide(firing).isPresent();
	}

	LeaseWatch watch(Runnable freed) {
		return this.store.watch(this.job.id(), this.job.timing().ttl(), freed);
	}

	/** How long to wait at most before the next look at a job that is held. */
	Duration longestPause() {
		Duration third = this.job.timing().ttl().dividedBy(3);
		return (third.compareTo(LONGEST_POLL) < 0) ? third : LONGEST_POLL;
	}

}
