package io.github.singletonjob.runtime;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.github.singletonjob.runtime.JobClock.Moment;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Notices what keeps this instance from renewing when it should: a renewal that begins
 * late, because of a long garbage collection or for want of the processor, and a wall
 * clock that steps. Says so once for each episode. (As the housekeeper of HikariCP's pool
 * does for its own work.)
 */
final class RenewalWatch {

	private static final Log logger = LogFactory.getLog(RenewalWatch.class);

	private static final Duration LARGEST_STEP = Duration.ofSeconds(1);

	private final JobClock clock;

	private final LongSupplier collectionMillis;

	private final Duration tolerance;

	private final long stepMillis;

	private volatile Plan plan;

	private volatile boolean late;

	/**
	 * Creates a watch.
	 * @param clock the clocks
	 * @param timing a renewal may begin later by the time that one call may take
	 * @param collectionMillis the time spent in garbage collections so far
	 */
	RenewalWatch(JobClock clock, LeaseTiming timing, LongSupplier collectionMillis) {
		this.clock = clock;
		this.collectionMillis = collectionMillis;
		this.tolerance = timing.callTimeout();
		this.stepMillis = Math.min(LARGEST_STEP.toMillis(), timing.stopEarly().toMillis());
		this.plan = new Plan(clock.now(), Duration.ZERO, collectionMillis.getAsLong());
	}

	/** A renewal is to begin after a delay from a moment. */
	void planned(Moment from, Duration delay) {
		this.plan = new Plan(from, delay, this.collectionMillis.getAsLong());
	}

	/** The renewal that was planned last begins now, or an earlier one in its place. */
	void begins(String job) {
		Plan planned = this.plan;
		Moment now = this.clock.now();
		long elapsed = (now.nanos() - planned.at().nanos()) / 1_000_000;
		reportStep(job, now.wallMillis() - planned.at().wallMillis() - elapsed);
		long lateness = elapsed - planned.delay().toMillis();
		if (lateness <= this.tolerance.toMillis()) {
			if (this.late) {
				this.late = false;
				logger.info(job + ": renewals begin in time again");
			}
		}
		else if (!this.late) {
			this.late = true;
			long collecting = this.collectionMillis.getAsLong() - planned.collectionMillis();
			logger.warn(job + ": renewal began " + lateness + " ms late, " + elapsed + " ms after the one before it: "
					+ cause(lateness, collecting));
		}
	}

	private static String cause(long lateness, long collecting) {
		if (collecting >= lateness / 2) {
			return "garbage collection has paused this JVM for " + collecting + " ms of them";
		}
		return "no thread of this JVM got to it (a busy or frozen machine?), garbage collection took only " + collecting
				+ " ms of them";
	}

	private void reportStep(String job, long drift) {
		if (Math.abs(drift) > this.stepMillis) {
			logger.warn(job + ": the wall clock was " + ((drift > 0) ? "put ahead by " : "set back by ")
					+ Math.abs(drift) + " ms"
					+ ((drift > 0)
							? ", or this machine was suspended for so long: leases are renewed before they count as held"
							: ", which does not harm leases"));
		}
	}

	/**
	 * A renewal that is to come.
	 *
	 * @param at when it was planned
	 * @param delay how long after that it is to begin
	 * @param collectionMillis the time spent in garbage collections until then
	 */
	private record Plan(Moment at, Duration delay, long collectionMillis) {
	}

}
