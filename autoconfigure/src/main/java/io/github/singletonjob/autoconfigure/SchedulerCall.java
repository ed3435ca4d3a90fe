package io.github.singletonjob.autoconfigure;

import java.lang.StackWalker.StackFrame;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.Stream;

import org.springframework.scheduling.support.ScheduledMethodRunnable;

/**
 * Finds out whether the calling thread is inside a call of a method by Spring's
 * scheduler. The scheduler tells nobody; the stack does. It counts what the scheduler has
 * called itself: a job that another scheduled method calls is an extra run.
 */
final class SchedulerCall {

	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

	private SchedulerCall() {
	}

	/**
	 * Whether the scheduler has called this method on the calling thread.
	 * @param method the job's method
	 * @param targetClass the class of the job's bean, without its proxy
	 */
	static boolean isOf(Method method, Class<?> targetClass) {
		return WALKER.walk(SchedulerCall::called)
			.filter((frame) -> frame.getMethodName().equals(method.getName()) && isOf(frame, targetClass))
			.isPresent();
	}

	/** The frame that the innermost call by the scheduler has called. */
	private static Optional<StackFrame> called(Stream<StackFrame> frames) {
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
