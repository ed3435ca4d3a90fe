package io.github.singletonjob.autoconfigure;

import java.lang.StackWalker.StackFrame;
import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.singletonjob.Takeover;
import io.github.singletonjob.lease.Firing;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.config.Task;
import org.springframework.scheduling.config.TaskExecutionOutcome;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ClassUtils;

/**
 * Finds the firing for which a job is called: none unless Spring's scheduler itself has
 * called it for a cron expression. The scheduler reports neither; the stack shows who has
 * called, and the scheduler's tasks show which schedules have fired. A job that another
 * scheduled method calls is an extra run.
 */
class Firings {

	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

	private final Supplier<Clock> clock;

	private final ObjectProvider<ScheduledTaskHolder> tasks;

	/**
	 * Creates a finder.
	 * @param clock the scheduler's
	 * @param tasks know which schedules have fired
	 */
	Firings(Supplier<Clock> clock, ObjectProvider<ScheduledTaskHolder> tasks) {
		this.clock = clock;
		this.tasks = tasks;
	}

	@Nullable Firing current(JobDefinition job, Class<?> targetClass) {
		Method method = job.method();
		if (job.schedules().isEmpty() || !isCalledByScheduler(method, targetClass)) {
			return null;
		}
		Clock now = this.clock.get();
		Instant instant = now.instant();
		return fired(job.schedules(), method, targetClass).stream()
			.map((schedule) -> firing(schedule, schedule.fireTime(instant, now.getZone()), job.takeover()))
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
		List<Task> started = started(method, targetClass);
		if (started.isEmpty()) {
			return schedules.crons();
		}
		Set<String> expressions = started.stream()
			.filter(CronTask.class::isInstance)
			.map((task) -> ((CronTask) task).getExpression())
			.collect(Collectors.toSet());
		return schedules.crons().stream().filter((schedule) -> expressions.contains(schedule.text())).toList();
	}

	/** The tasks of a method that the scheduler is executing. */
	private List<Task> started(Method method, Class<?> targetClass) {
		List<String> names = Stream
			.concat(Stream.of(method.getDeclaringClass(), targetClass),
					Stream.of(ClassUtils.getAllInterfacesForClass(targetClass)))
			.map((type) -> type.getName() + "." + method.getName())
			.toList();
		return this.tasks.stream()
			.map(ScheduledTaskHolder::getScheduledTasks)
			.flatMap(Collection::stream)
			.map(ScheduledTask::getTask)
			.filter((task) -> task.getLastExecutionOutcome().status() == TaskExecutionOutcome.Status.STARTED)
			.filter((task) -> names.contains(task.toString()))
			.toList();
	}

	private static boolean isCalledByScheduler(Method method, Class<?> targetClass) {
		return WALKER.walk(Firings::calledByScheduler)
			.filter((frame) -> frame.getMethodName().equals(method.getName()) && isOf(frame, targetClass))
			.isPresent();
	}

	/** The frame that the innermost call by the scheduler has called. */
	private static Optional<StackFrame> calledByScheduler(Stream<StackFrame> frames) {
		StackFrame last = null;
		for (StackFrame frame : (Iterable<StackFrame>) frames::iterator) {
			if (ScheduledMethodRunnable.class.isAssignableFrom(frame.getDeclaringClass())) {
				return Optional.ofNullable(last);
			}
			last = frame;
		}
		return Optional.empty();
	}

	/** Proxies are subclasses of the target's class, or implement what it implements. */
	private static boolean isOf(StackFrame frame, Class<?> targetClass) {
		Class<?> called = frame.getDeclaringClass();
		return called.isAssignableFrom(targetClass) || targetClass.isAssignableFrom(called)
				|| Stream.of(called.getInterfaces()).anyMatch((type) -> type.isAssignableFrom(targetClass));
	}

}
