package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;

import io.github.singletonjob.PerInstance;
import io.github.singletonjob.SingletonJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ClassUtils;

/**
 * Lists the scheduled methods of which nobody has said whether they are to run on one
 * instance or on all.
 */
class UnmarkedReport implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(UnmarkedReport.class);

	private final ConfigurableListableBeanFactory beanFactory;

	UnmarkedReport(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<String> unmarked = new TreeSet<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null
					: this.beanFactory.getType(beanName, false);
			if (type != null && AnnotationUtils.isCandidateClass(type, Scheduled.class)) {
				addUnmarked(ClassUtils.getUserClass(type), unmarked);
			}
		}
		if (!unmarked.isEmpty()) {
			logger.warn("These scheduled methods run on every instance: " + String.join(", ", unmarked)
					+ ". Mark each with @SingletonJob, or with @PerInstance if that is meant");
		}
	}

	private static void addUnmarked(Class<?> type, Set<String> unmarked) {
		if (AnnotatedElementUtils.hasAnnotation(type, PerInstance.class)) {
			return;
		}
		try {
			MethodIntrospector.selectMethods(type, (Method method) -> isUnmarked(method))
				.forEach((method) -> unmarked.add(type.getName() + "." + method.getName() + "()"));
		}
		catch (LinkageError | IllegalStateException ex) {
			// Such a bean cannot be created either: Spring says so when somebody needs it
			logger.debug("The methods of " + type.getName() + " cannot be looked at: " + ex);
		}
	}

	private static boolean isUnmarked(Method method) {
		boolean scheduled = AnnotatedElementUtils.hasAnnotation(method, Scheduled.class)
				|| AnnotatedElementUtils.hasAnnotation(method, Schedules.class);
		return scheduled && !AnnotatedElementUtils.hasAnnotation(method, SingletonJob.class)
				&& !AnnotatedElementUtils.hasAnnotation(method, PerInstance.class);
	}

}
