package io.github.singletonjob;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of a job that has no annotation. Null means the default. What is configured
 * under {@code singleton-job.jobs.<name>} beats these.
 *
 * @param ttl how long a silent holder keeps the job; at least two seconds
 * @param minHold how long the job stays held at least; null for no longer than the body
 * @param maxRun how long a run may last before it is cancelled; null for no limit
 * @param onLost how the body is told that its lease is over; null for
 * {@link OnLost#INTERRUPT}
 * @param handover whether a run waits for a holder before it that has not given its lease
 * back; null for {@link Handover#FAST}
 * @param onShutdown what becomes of a run when the application stops; null for
 * {@link OnShutdown#DEFAULT}
 */
public record JobOptions(@Nullable Duration ttl, @Nullable Duration minHold, @Nullable Duration maxRun,
		@Nullable OnLost onLost, @Nullable Handover handover, @Nullable OnShutdown onShutdown) {

	/**
	 * All defaults.
	 * @return options that set nothing
	 */
	public static JobOptions defaults() {
		return new JobOptions(null, null, null, null, null, null);
	}

	/**
	 * The same options with another time to live.
	 * @param ttl how long a silent holder keeps the job
	 * @return new options
	 */
	public JobOptions withTtl(Duration ttl) {
		return new JobOptions(ttl, this.minHold, this.maxRun, this.onLost, this.handover, this.onShutdown);
	}

	/**
	 * The same options with a limit for the run.
	 * @param maxRun how long a run may last before it is cancelled
	 * @return new options
	 */
	public JobOptions withMaxRun(Duration maxRun) {
		return new JobOptions(this.ttl, this.minHold, maxRun, this.onLost, this.handover, this.onShutdown);
	}

	/**
	 * The same options with another way to tell the body.
	 * @param onLost how the body is told that its lease is over
	 * @return new options
	 */
	public JobOptions withOnLost(OnLost onLost) {
		return new JobOptions(this.ttl, this.minHold, this.maxRun, onLost, this.handover, this.onShutdown);
	}

	/**
	 * The same options with a shortest time between the grant and the release.
	 * @param minHold how long the job stays held at least
	 * @return new options
	 */
	public JobOptions withMinHold(Duration minHold) {
		return new JobOptions(this.ttl, minHold, this.maxRun, this.onLost, this.handover, this.onShutdown);
	}

	/**
	 * The same options with another way to take over from a silent holder.
	 * @param handover whether a run waits for it
	 * @return new options
	 */
	public JobOptions withHandover(Handover handover) {
		return new JobOptions(this.ttl, this.minHold, this.maxRun, this.onLost, handover, this.onShutdown);
	}

	/**
	 * The same options with another end at a stop of the application.
	 * @param onShutdown what becomes of a run then
	 * @return new options
	 */
	public JobOptions withOnShutdown(OnShutdown onShutdown) {
		return new JobOptions(this.ttl, this.minHold, this.maxRun, this.onLost, this.handover, onShutdown);
	}

}
