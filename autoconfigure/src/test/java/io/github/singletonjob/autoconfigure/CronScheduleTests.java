package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.scheduling.support.CronExpression;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The fire time that a run stands for.
 */
class CronScheduleTests {

	private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	@Test
	void itIsTheInstantOfTheExpressionHoweverLateTheSchedulerIs() {
		CronSchedule nightly = schedule("0 0 1 * * *", BERLIN);
		Instant one = at("2026-11-29T01:00", BERLIN);
		assertThat(fireTime(nightly, one)).isEqualTo(one);
		assertThat(fireTime(nightly, one.plusSeconds(180))).isEqualTo(one);
		assertThat(fireTime(nightly, one.plus(Duration.ofHours(23)))).isEqualTo(one);
		assertThat(fireTime(nightly, one.plus(Duration.ofHours(24)))).isEqualTo(one.plus(Duration.ofDays(1)));
	}

	@Test
	void aSchedulerThatIsALittleEarlyCounts() {
		CronSchedule nightly = schedule("0 0 1 * * *", BERLIN);
		Instant one = at("2026-11-29T01:00", BERLIN);
		assertThat(fireTime(nightly, one.minusMillis(400))).isEqualTo(one);
		assertThat(fireTime(nightly, one.minusMillis(600))).isEqualTo(one.minus(Duration.ofDays(1)));
	}

	@Test
	void clocksThreeMinutesApartAgreeAboutAnHourlyJob() {
		CronSchedule hourly = schedule("0 0 * * * *", BERLIN);
		Instant fires = at("2026-11-29T14:00", BERLIN);
		for (int skew = 0; skew <= 180; skew++) {
			assertThat(fireTime(hourly, fires.plusSeconds(skew))).isEqualTo(fires);
		}
	}

	@ParameterizedTest
	@CsvSource({
			// The gap: 02:00 to 03:00 does not exist
			"Europe/Berlin, 2026-03-29T00:00, 2026-03-30T00:00", "America/New_York, 2026-03-08T00:00, 2026-03-09T00:00",
			// The overlap: 02:00 to 03:00, or 01:00 to 02:00, comes twice
			"Europe/Berlin, 2026-10-25T00:00, 2026-10-26T00:00",
			"America/New_York, 2026-11-01T00:00, 2026-11-02T00:00" })
	void onTheDaysThatClocksChangeEveryFiringOfTheSchedulerHasItsOwn(String zoneName, String from, String until) {
		ZoneId zone = ZoneId.of(zoneName);
		for (String cron : List.of("0 30 2 * * *", "0 30 1 * * *", "0 0 3 * * *", "0 0 * * * *", "0 */20 * * * *",
				"0 59 1 * * *", "0 30 4 * * *")) {
			CronSchedule schedule = schedule(cron, zone);
			List<Instant> fired = firedByTheScheduler(cron, at(from, zone), at(until, zone), zone);
			List<Instant> fireTimes = new ArrayList<>();
			for (Instant firing : fired) {
				fireTimes.add(fireTime(schedule, firing.plusMillis(20)));
			}
			assertThat(fireTimes).as(cron + " in " + zoneName).isEqualTo(fired).doesNotHaveDuplicates();
		}
	}

	@Test
	void aTimeInTheGapIsLeftOutAndTheNextDayIsNot() {
		CronSchedule inTheGap = schedule("0 30 2 * * *", BERLIN);
		Instant dayBefore = at("2026-03-28T02:30", BERLIN);
		assertThat(fireTime(inTheGap, at("2026-03-29T03:10", BERLIN))).isEqualTo(dayBefore);
		Instant dayAfter = at("2026-03-30T02:30", BERLIN);
		assertThat(fireTime(inTheGap, dayAfter.plusSeconds(60))).isEqualTo(dayAfter);
	}

	@Test
	void itAgreesWithEveryExpressionTried() {
		SplittableRandom random = new SplittableRandom(42);
		for (String cron : List.of("* * * * * *", "*/7 * * * * *", "0 */5 9-17 * * MON-FRI", "0 0 1 1 * *",
				"0 0 12 L * *", "0 15 10 ? * 6#3", "30 59 23 31 12 *")) {
			CronSchedule schedule = schedule(cron, BERLIN);
			for (int i = 0; i < 300; i++) {
				Instant now = Instant.ofEpochSecond(1_750_000_000L + random.nextLong(60_000_000L));
				Instant fireTime = fireTime(schedule, now);
				assertThat(fireTime).as(cron + " at " + now).isNotNull().isBeforeOrEqualTo(now.plusMillis(500));
				ZonedDateTime next = schedule.expression().next(fireTime.atZone(BERLIN));
				assertThat(next).as(cron + " after " + fireTime).isNotNull();
				assertThat(next.toInstant()).isAfter(now.plusMillis(500));
			}
		}
	}

	@Test
	void anExpressionThatHasNeverFiredHasNone() {
		assertThat(fireTime(schedule("0 0 0 30 2 *", BERLIN), Instant.now())).isNull();
	}

	@Test
	void theZoneOfTheSchedulersClockCountsIfThereIsNoOther() {
		CronSchedule nightly = schedule("0 0 1 * * *", null);
		Instant now = Instant.parse("2026-11-29T12:00:00Z");
		assertThat(nightly.fireTime(now, ZoneOffset.UTC)).isEqualTo(Instant.parse("2026-11-29T01:00:00Z"));
		assertThat(nightly.fireTime(now, BERLIN)).isEqualTo(Instant.parse("2026-11-29T00:00:00Z"));
	}

	private static List<Instant> firedByTheScheduler(String cron, Instant from, Instant until, ZoneId zone) {
		CronExpression expression = CronExpression.parse(cron);
		List<Instant> fired = new ArrayList<>();
		ZonedDateTime next = expression.next(from.atZone(zone));
		while (next != null && next.toInstant().isBefore(until)) {
			fired.add(next.toInstant());
			next = expression.next(next);
		}
		return fired;
	}

	private static CronSchedule schedule(String cron, @Nullable ZoneId zone) {
		return new CronSchedule("", cron, CronExpression.parse(cron), zone, "");
	}

	private static @Nullable Instant fireTime(CronSchedule schedule, Instant now) {
		return schedule.fireTime(now, ZoneOffset.UTC);
	}

	private static Instant at(String local, ZoneId zone) {
		return java.time.LocalDateTime.parse(local).atZone(zone).toInstant();
	}

}
