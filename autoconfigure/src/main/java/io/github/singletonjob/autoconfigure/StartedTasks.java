package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.scheduling.config.Task;
import org.springframework.scheduling.config.TaskExecutionOutcome;
import org.springframework.util.ClassUtils;

/**
 * Tells which tasks of a method the scheduler is executing. It matters for a method with
 * several schedules: what has fired is not visible to the method.
 *
 * @param holders who know the tasks
 */
record StartedTasks(ObjectProvider<ScheduledTaskHolder> holders) {

	List<Task> of(Method method, Class<?> targetClass) {
		List<String> names = Stream
			.concat(Stream.of(method.getDeclaringClass(), targetClass),
					Stream.of(ClassUtils.getAllInterfacesForClass(targetClass)))
			.map((type) -> type.getName() + "." + method.getName())
			.toList();
		return this.holders.stream()
			.map(ScheduledTaskHolder::getScheduledTasks)
			.flatMap(Collection::stream)
			.map(ScheduledTask::getTask)
			.filter((task) -> task.getLastExecutionOutcome().status() == TaskExecutionOutcome.Status.STARTED)
			.filter((task) -> names.contains(task.toString()))
			.toList();
	}

}
