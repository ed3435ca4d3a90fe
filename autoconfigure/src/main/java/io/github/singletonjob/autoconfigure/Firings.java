package io.github.singletonjob.autoconfigure;

import java.lang.StackWalker.StackFrame;
import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.singletonjob.Takeover;
import io.github.singletonjob.lease.Firing;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
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

	private static final Log logger = LogFactory.getLog(Firings.class);

	private static final String DEFAULT_SCHEDULER = ScheduledAnnotationBeanPostProcessor.DEFAULT_TASK_SCHEDULER_BEAN_NAME;

	/** What Spring's schedulers run a task in, whatever the task is. */
	private static final String SCHEDULER = "org.springframework.scheduling.support.DelegatingErrorHandlingRunnable";

	private final BeanFactory beanFactory;

	private final ObjectProvider<ScheduledTaskHolder> tasks;

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a finder.
	 * @param beanFactory has the schedulers
	 * @param tasks know which schedules have fired
	 */
	Firings(BeanFactory beanFactory, ObjectProvider<ScheduledTaskHolder> tasks) {
		this.beanFactory = beanFactory;
		this.tasks = tasks;
	}

	@Nullable Firing current(JobDefinition job, Class<?> targetClass) {
		Method method = job.method();
		if (job.schedules().isEmpty() || !isCalledByScheduler(method, targetClass)) {
			reportLostFiring(job, targetClass);
			return null;
		}
		return fired(job.schedules(), method, targetClass).stream()
			.map((schedule) -> firing(schedule, job.takeover()))
			.filter(Objects::nonNull)
			.max(Comparator.comparing((firing) -> Objects.requireNonNull(firing.fireTime())))
			.orElse(null);
	}

	private @Nullable Firing firing(CronSchedule schedule, Takeover takeover) {
		Clock clock = clock(schedule.scheduler());
		Instant fireTime = schedule.fireTime(clock.instant(), clock.getZone());
		return (fireTime != null) ? new Firing(schedule.name(), fireTime, takeover == Takeover.AUTOMATIC) : null;
	}

	/** The clock of the scheduler that Spring chooses for a qualifier. */
	private Clock clock(String qualifier) {
		TaskScheduler scheduler = null;
		if (!qualifier.isEmpty()) {
			scheduler = qualified(qualifier);
			if (scheduler == null) {
				return Clock.system(ZoneId.systemDefault());
			}
		}
		else {
			scheduler = this.beanFactory.getBeanProvider(TaskScheduler.class).getIfUnique();
		}
		if (scheduler == null && this.beanFactory.containsBean(DEFAULT_SCHEDULER)
				&& this.beanFactory.getBean(DEFAULT_SCHEDULER) instanceof TaskScheduler named) {
			scheduler = named;
		}
		return (scheduler != null) ? scheduler.getClock() : Clock.system(ZoneId.systemDefault());
	}

	private @Nullable TaskScheduler qualified(String qualifier) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory, TaskScheduler.class, qualifier);
		}
		catch (NoSuchBeanDefinitionException ex) {
			// It names a ScheduledExecutorService, which has no clock of its own
			return null;
		}
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
			.filter(Firings::isStarted)
			.filter((task) -> names.contains(task.toString()))
			.toList();
	}

	/**
	 * A call that a cron firing has led to in a way that hides which one it was has no
	 * fire time, so each instance makes its own. Reported once for each job.
	 */
	private void reportLostFiring(JobDefinition job, Class<?> targetClass) {
		String name = job.id().name();
		if (this.reported.contains(name)) {
			return;
		}
		if (!job.schedules().isEmpty()) {
			if (!started(job.method(), targetClass).isEmpty() && !isInsideScheduledMethod()
					&& this.reported.add(name)) {
				logger.warn(name + ": called on the thread '" + Thread.currentThread().getName()
						+ "' while the scheduler fires it on another one. If an aspect has moved the call there, the"
						+ " firing has lost its fire time, and each instance runs it. Let the aspect proceed on the"
						+ " scheduler's thread, or return a CompletionStage");
			}
		}
		else if (isFiredByCodeWithACron() && this.reported.add(name)) {
			logger.warn(name + ": called by a cron task that code has registered, so it has no fire time, and each"
					+ " instance runs each firing. Put @Scheduled(cron = …) on " + job.describeMethod() + " instead");
		}
	}

	private boolean isFiredByCodeWithACron() {
		boolean cron = this.tasks.stream()
			.map(ScheduledTaskHolder::getScheduledTasks)
			.flatMap(Collection::stream)
			.map(ScheduledTask::getTask)
			.anyMatch((task) -> task instanceof CronTask && isStarted(task));
		return cron && WALKER.walk((frames) -> frames.anyMatch(Firings::isScheduler)) && !isInsideScheduledMethod();
	}

	private static boolean isInsideScheduledMethod() {
		return WALKER.walk((frames) -> frames
			.anyMatch((frame) -> ScheduledMethodRunnable.class.isAssignableFrom(frame.getDeclaringClass())));
	}

	private static boolean isScheduler(StackFrame frame) {
		return SCHEDULER.equals(frame.getClassName());
	}

	private static boolean isStarted(Task task) {
		return task.getLastExecutionOutcome().status() == TaskExecutionOutcome.Status.STARTED;
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
