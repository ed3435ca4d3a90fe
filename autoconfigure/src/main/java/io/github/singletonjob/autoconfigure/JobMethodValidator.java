package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.singletonjob.SingletonJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods that would run unguarded in silence, or whose result could not say that
 * the run was skipped. Looks at them before any bean exists, because the attempt to make
 * a proxy of a final class would fail with a message that does not name the job.
 */
class JobMethodValidator implements BeanFactoryPostProcessor {

	private static final Log logger = LogFactory.getLog(JobMethodValidator.class);

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		for (String beanName : beanFactory.getBeanDefinitionNames()) {
			Class<?> type = beanFactory.getType(beanName, false);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				Class<?> userClass = ClassUtils.getUserClass(type);
				jobMethods(userClass).forEach((method) -> check(method, userClass));
			}
		}
	}

	static Set<Method> jobMethods(Class<?> type) {
		try {
			return MethodIntrospector.selectMethods(type,
					(Method method) -> AnnotatedElementUtils.hasAnnotation(method, SingletonJob.class));
		}
		catch (LinkageError | IllegalStateException ex) {
			// Such a bean cannot be created either: Spring says so when somebody needs it
			logger.debug("The methods of " + type.getName() + " cannot be looked at: " + ex);
			return Set.of();
		}
	}

	static void check(Method method, Class<?> beanClass) {
		String where = beanClass.getName() + "." + method.getName() + "()";
		int modifiers = method.getModifiers();
		refuse(Modifier.isPrivate(modifiers), where, "private");
		refuse(Modifier.isStatic(modifiers), where, "static");
		refuse(Modifier.isFinal(modifiers), where, "final");
		if (Modifier.isFinal(beanClass.getModifiers()) && !isDeclaredByInterface(method, beanClass)) {
			throw new InvalidJobException(
					"The job at " + where + " is in a final class, which no proxy can extend: it would run unguarded.",
					"Make the class open (in Kotlin: 'open class', or the kotlin-spring plugin; a record cannot be one),"
							+ " or put the method on an interface.");
		}
		boolean packagePrivate = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
		if (packagePrivate && !method.getDeclaringClass().getPackageName().equals(beanClass.getPackageName())) {
			throw new InvalidJobException("The job at " + where + " is package-private in "
					+ method.getDeclaringClass().getName()
					+ ", so that no proxy of a class in another package can intercept it: it would run unguarded.",
					"Make it protected or public.");
		}
		Class<?> type = method.getReturnType();
		if (type != void.class && type != Optional.class && type != CompletionStage.class
				&& type != CompletableFuture.class) {
			throw new InvalidJobException(
					"The job at " + where + " returns " + type.getName()
							+ ", which cannot say that the run was skipped because the job is held elsewhere.",
					"Return void, java.util.Optional, which is empty for a skipped run, or CompletionStage or"
							+ " CompletableFuture, which is completed with null for one.");
		}
	}

	private static void refuse(boolean refused, String where, String modifier) {
		if (refused) {
			throw new InvalidJobException(
					"The job at " + where + " is " + modifier
							+ ", so that no proxy can intercept it: it would run unguarded.",
					"Remove '" + modifier + "' (in Kotlin: mark the class and the method 'open', or use the"
							+ " kotlin-spring plugin).");
		}
	}

	private static boolean isDeclaredByInterface(Method method, Class<?> beanClass) {
		for (Class<?> type : ClassUtils.getAllInterfacesForClass(beanClass)) {
			if (ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes())) {
				return true;
			}
		}
		return false;
	}

}
