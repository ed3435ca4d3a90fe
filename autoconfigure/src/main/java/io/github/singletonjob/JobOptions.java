package io.github.singletonjob;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of a job that has no annotation. Null means the default. What is configured
 * under {@code singleton-job.jobs.<name>} beats these.
 *
 * @param ttl how long a silent holder keeps the job; at least two seconds
 * @param maxRun how long a run may last before it is cancelled; null for no limit
 * @param onLost how the body is told that its lease is over; null for
 * {@link OnLost#INTERRUPT}
 */
public record JobOptions(@Nullable Duration ttl, @Nullable Duration maxRun, @Nullable OnLost onLost) {

	/**
	 * All defaults.
	 * @return options that set nothing
	 */
	public static JobOptions defaults() {
		return new JobOptions(null, null, null);
	}

	/**
	 * The same options with another time to live.
	 * @param ttl how long a silent holder keeps the job
	 * @return new options
	 */
	public JobOptions withTtl(Duration ttl) {
		return new JobOptions(ttl, this.maxRun, this.onLost);
	}

	/**
	 * The same options with a limit for the run.
	 * @param maxRun how long a run may last before it is cancelled
	 * @return new options
	 */
	public JobOptions withMaxRun(Duration maxRun) {
		return new JobOptions(this.ttl, maxRun, this.onLost);
	}

	/**
	 * The same options with another way to tell the body.
	 * @param onLost how the body is told that its lease is over
	 * @return new options
	 */
	public JobOptions withOnLost(OnLost onLost) {
		return new JobOptions(this.ttl, this.maxRun, onLost);
	}

}
