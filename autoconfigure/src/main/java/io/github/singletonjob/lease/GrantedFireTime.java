package io.github.singletonjob.lease;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The fire time that a granted run stands for.
 *
 * @param firing the firing that the lease was asked for
 * @param instant the fire time, which is an earlier one than the firing's if that was
 * open
 * @param takeover whether another run has started it and not completed it
 * @param completedBefore the last fire time of the schedule that was completed before, as
 * far as is known, or null
 */
public record GrantedFireTime(Firing firing, Instant instant, boolean takeover, @Nullable Instant completedBefore) {

	/**
	 * The name of the schedule within the job.
	 * @return empty for a job's only one
	 */
	public String schedule() {
		return this.firing.schedule();
	}

}
