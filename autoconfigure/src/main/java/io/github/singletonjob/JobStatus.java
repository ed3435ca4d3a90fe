package io.github.singletonjob;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What this instance can tell an operator of a job at one moment.
 *
 * @param job the job's name
 * @param lease who holds it
 * @param schedules its cron schedules, and those that the store remembers
 * @param lastRun the last run of it that ended on this instance, or null if there was
 * none since its start
 */
public record JobStatus(String job, Lease lease, List<Schedule> schedules, @Nullable LastRun lastRun) {

	/**
	 * Makes the list immutable.
	 */
	public JobStatus {
		schedules = List.copyOf(schedules);
	}

	/**
	 * Whether a job is held.
	 */
	public enum State {

		/** Some instance holds the lease. */
		HELD,

		/** Nobody holds the lease. */
		FREE,

		/** The store did not answer. */
		UNKNOWN

	}

	/**
	 * The lease of a job.
	 *
	 * @param state whether somebody holds it
	 * @param holder the instance that holds it, for people, or null if nobody does or the
	 * store cannot tell
	 * @param token the token that was granted last, 0 if none is known
	 * @param expiresIn when the lease ends unless it is renewed, or null if nobody holds
	 * it or the store cannot tell
	 * @param deadlineIn if this instance holds it, the time for which this instance
	 * relies on it without a further renewal; null otherwise
	 */
	public record Lease(State state, @Nullable String holder, long token, @Nullable Duration expiresIn,
			@Nullable Duration deadlineIn) {
	}

	/**
	 * A cron schedule of a job.
	 *
	 * @param name names the schedule within the job; empty for a job's only one
	 * @param started the last fire time that a run has begun, or null
	 * @param completed the last fire time that a run has completed, or null
	 * @param next the next fire time by the clock of this instance, or null if there is
	 * none, or this application does not have the schedule
	 */
	public record Schedule(String name, @Nullable Instant started, @Nullable Instant completed,
			@Nullable Instant next) {
	}

	/**
	 * A run that has ended on this instance.
	 *
	 * @param outcome how it ended
	 * @param token its token
	 * @param fireTime its fire time, or null if it had none
	 * @param began when it began, by the wall clock of this instance
	 * @param ended when it had ended
	 * @param error the class of the exception that it ended with, or null
	 */
	public record LastRun(RunOutcome outcome, long token, @Nullable Instant fireTime, Instant began, Instant ended,
			@Nullable String error) {
	}

}
