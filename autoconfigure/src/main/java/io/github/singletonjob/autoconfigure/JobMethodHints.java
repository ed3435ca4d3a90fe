package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Set;

import io.github.singletonjob.SingletonJob;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Keeps the methods of jobs callable in a native image: a stand-by calls them by
 * reflection.
 */
class JobMethodHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> type = ClassUtils.getUserClass(registeredBean.getBeanClass());
		Set<Method> jobs = AnnotationUtils.isCandidateClass(type, SingletonJob.class) ? JobMethodCheck.jobMethods(type)
				: Set.of();
		if (jobs.isEmpty()) {
			return null;
		}
		return (context, code) -> jobs
			.forEach((job) -> context.getRuntimeHints().reflection().registerMethod(job, ExecutableMode.INVOKE));
	}

}
