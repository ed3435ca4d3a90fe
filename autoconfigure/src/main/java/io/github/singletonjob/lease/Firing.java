package io.github.singletonjob.lease;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The firing of a schedule for which a lease is asked. A request without one is an extra
 * run, which neither looks at fire times nor records them.
 * <p>
 * A schedule has a fire time that was <em>started</em> last and one that was
 * <em>completed</em> last. A fire time that was started and not completed is
 * <em>open</em>: whoever gets the lease next finishes it, before anything later is begun.
 *
 * @param schedule names the schedule within the job: empty for a job's only one
 * @param fireTime the nominal instant, equal on all instances; null to finish what is
 * open and nothing else
 * @param finishesOpen whether a fire time that another run has started may be finished.
 * If not, a fire time is started at most once
 */
public record Firing(String schedule, @Nullable Instant fireTime, boolean finishesOpen) {

	/**
	 * How far a fire time may lie ahead of the clock of the store: one wrong clock must
	 * not hide the fire times of the others.
	 */
	public static final Duration CLOCK_TOLERANCE = Duration.ofMinutes(5);

	/**
	 * Checks that there is something to do.
	 * @throws IllegalArgumentException if there is neither a fire time nor leave to
	 * finish an open one
	 */
	public Firing {
		if (fireTime == null && !finishesOpen) {
			throw new IllegalArgumentException("A firing without a fire time must finish what is open");
		}
	}

	/**
	 * Asks for a fire time that another run has left open.
	 * @param schedule the schedule
	 * @return the firing
	 */
	public static Firing takeover(String schedule) {
		return new Firing(schedule, null, true);
	}

}
