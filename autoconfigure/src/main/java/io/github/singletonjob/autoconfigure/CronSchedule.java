package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.support.CronExpression;

/**
 * One cron expression of a job. Its fire time is the latest instant of the expression
 * that is not after now, so that it does not depend on when exactly a scheduler got round
 * to it, and instances whose clocks differ by less than the time between two instants
 * agree. Works on instants, never on local times: a local time that a daylight-saving
 * change repeats stands for two fire times, as it does for Spring's scheduler.
 *
 * @param name names the schedule within the job
 * @param text the expression, as Spring's task has it
 * @param expression the expression
 * @param zone in which it is meant; null for that of the scheduler's clock
 * @param scheduler the qualifier of the scheduler that fires it; empty for the default
 */
record CronSchedule(String name, String text, CronExpression expression, @Nullable ZoneId zone, String scheduler) {

	/** A scheduler can be a little early, because timers and wall clocks differ. */
	private static final Duration EARLY = Duration.ofMillis(500);

	private static final long LONGEST_SEARCH = Duration.ofDays(366 * 9).toSeconds();

	/**
	 * The latest fire time that is not after now.
	 * @param now the time of the scheduler's clock
	 * @param clockZone the zone of the scheduler's clock
	 * @return the fire time, or null if there was none in the last years
	 */
	@Nullable Instant fireTime(Instant now, ZoneId clockZone) {
		ZonedDateTime limit = now.plus(EARLY).atZone((this.zone != null) ? this.zone : clockZone);
		long back = 1;
		while (!firesUntil(limit, limit.minusSeconds(back))) {
			back *= 2;
			if (back > LONGEST_SEARCH) {
				return null;
			}
		}
		long fires = back;
		long firesNot = back / 2;
		while (fires - firesNot > 1) {
			long middle = (fires + firesNot) / 2;
			if (firesUntil(limit, limit.minusSeconds(middle))) {
				fires = middle;
			}
			else {
				firesNot = middle;
			}
		}
		ZonedDateTime fireTime = this.expression.next(limit.minusSeconds(fires));
		return (fireTime != null) ? fireTime.toInstant() : null;
	}

	private boolean firesUntil(ZonedDateTime limit, ZonedDateTime after) {
		ZonedDateTime next = this.expression.next(after);
		return next != null && !next.isAfter(limit);
	}

}
