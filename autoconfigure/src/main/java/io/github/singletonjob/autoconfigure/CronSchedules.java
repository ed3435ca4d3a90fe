package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TimeZone;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * The schedules of a job's method.
 *
 * @param crons those with a cron expression; disabled ones are left out
 * @param others whether there are others, which have no fire times
 */
record CronSchedules(List<CronSchedule> crons, boolean others) {

	/** Of a method that nothing schedules. */
	static final CronSchedules NONE = new CronSchedules(List.of(), false);

	/**
	 * Reads the annotations of a method as Spring's scheduler reads them: those on the
	 * method itself, and none on a method that it overrides or implements.
	 * @param method the method
	 * @param resolver resolves placeholders and expressions
	 * @return its schedules
	 * @throws IllegalArgumentException if an expression cannot be read
	 */
	static CronSchedules of(Method method, StringValueResolver resolver) {
		List<Scheduled> cron = new ArrayList<>();
		boolean others = false;
		for (Scheduled scheduled : AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class,
				Schedules.class)) {
			String text = resolver.resolveStringValue(scheduled.cron());
			if (!StringUtils.hasText(text)) {
				others = true;
			}
			else if (!Scheduled.CRON_DISABLED.equals(text)) {
				cron.add(scheduled);
			}
		}
		boolean only = cron.size() == 1 && !others;
		return new CronSchedules(cron.stream().map((scheduled) -> schedule(scheduled, resolver, only)).toList(),
				others);
	}

	private static CronSchedule schedule(Scheduled scheduled, StringValueResolver resolver, boolean only) {
		String text = resolve(scheduled.cron(), resolver);
		String zone = resolve(scheduled.zone(), resolver);
		return new CronSchedule(only ? "" : (text + " " + zone).trim(), text, CronExpression.parse(text), zone(zone),
				resolve(scheduled.scheduler(), resolver));
	}

	private static String resolve(String text, StringValueResolver resolver) {
		String resolved = resolver.resolveStringValue(text);
		return (resolved != null) ? resolved : "";
	}

	private static @Nullable ZoneId zone(String zone) {
		if (!StringUtils.hasText(zone)) {
			return null;
		}
		TimeZone parsed = StringUtils.parseTimeZoneString(zone);
		return parsed.toZoneId();
	}

	boolean isEmpty() {
		return this.crons.isEmpty();
	}

	/** Whether the method has one schedule, so that it is known which one has fired. */
	boolean isSingle() {
		return this.crons.size() == 1 && !this.others;
	}

	Set<String> names() {
		return this.crons.stream().map(CronSchedule::name).collect(Collectors.toSet());
	}

}
