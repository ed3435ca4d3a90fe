package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.singletonjob.Takeover;
import io.github.singletonjob.lease.Firing;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.config.Task;

/**
 * Finds the firing for which a job is called: none unless Spring's scheduler itself has
 * called it for a cron expression.
 */
class Firings {

	private final Supplier<Clock> clock;

	private final StartedTasks startedTasks;

	/**
	 * Creates a finder.
	 * @param clock the scheduler's
	 * @param startedTasks tells which schedules have fired
	 */
	Firings(Supplier<Clock> clock, StartedTasks startedTasks) {
		this.clock = clock;
		this.startedTasks = startedTasks;
	}

	@Nullable Firing current(JobDefinition job, Class<?> targetClass) {
		Method method = job.method();
		if (job.start().schedules().isEmpty() || !SchedulerCall.isOf(method, targetClass)) {
			return null;
		}
		Clock now = this.clock.get();
		Instant instant = now.instant();
		return fired(job.start().schedules(), method, targetClass).stream()
			.map((schedule) -> firing(schedule, schedule.fireTime(instant, now.getZone()), job.start().takeover()))
			.filter(Objects::nonNull)
			.max(Comparator.comparing((firing) -> Objects.requireNonNull(firing.fireTime())))
			.orElse(null);
	}

	private static @Nullable Firing firing(CronSchedule schedule, @Nullable Instant fireTime, Takeover takeover) {
		return (fireTime != null) ? new Firing(schedule.name(), fireTime, takeover == Takeover.AUTOMATIC) : null;
	}

	private List<CronSchedule> fired(CronSchedules schedules, Method method, Class<?> targetClass) {
		if (schedules.isSingle()) {
			return schedules.crons();
		}
		List<Task> started = this.startedTasks.of(method, targetClass);
		if (started.isEmpty()) {
			return schedules.crons();
		}
		Set<String> expressions = started.stream()
			.filter(CronTask.class::isInstance)
			.map((task) -> ((CronTask) task).getExpression())
			.collect(Collectors.toSet());
		return schedules.crons().stream().filter((schedule) -> expressions.contains(schedule.text())).toList();
	}

}
