package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import io.github.singletonjob.SingletonJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods that would run unguarded in silence, or whose result could not say that
 * the run was skipped. Looks at them before any bean exists, because the attempt to make
 * a proxy of a final class would fail with a message that does not name the job. Then
 * looks at each bean as Spring's scheduler gets it, after all other post-processors.
 */
class JobMethodValidator implements BeanFactoryPostProcessor, BeanPostProcessor {

	/**
	 * Where Spring Framework 7 keeps it, by the name of a constant that 6 does not have.
	 */
	private static final String DEFAULT_PROXY_CONFIG = "org.springframework.aop.framework.autoproxy.defaultProxyConfig";

	private static final Log logger = LogFactory.getLog(JobMethodValidator.class);

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		boolean extended = areClassesExtended(beanFactory);
		for (String beanName : beanFactory.getBeanDefinitionNames()) {
			Class<?> type = beanFactory.getType(beanName, false);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				Class<?> userClass = ClassUtils.getUserClass(type);
				jobMethods(userClass).forEach((method) -> {
					check(method, userClass);
					if (extended && Modifier.isFinal(userClass.getModifiers())) {
						throw finalClass(userClass.getName() + "." + method.getName() + "()");
					}
				});
			}
		}
	}

	/**
	 * Whether proxies extend the class also where it has interfaces, as in Spring Boot.
	 */
	private static boolean areClassesExtended(ConfigurableListableBeanFactory beanFactory) {
		return Stream.of(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, DEFAULT_PROXY_CONFIG)
			.filter(beanFactory::containsBeanDefinition)
			.map((name) -> beanFactory.getBeanDefinition(name).getPropertyValues().get("proxyTargetClass"))
			.anyMatch(Boolean.TRUE::equals);
	}

	private static InvalidJobException finalClass(String where) {
		return new InvalidJobException(
				"The job at " + where + " is in a final class, which no proxy can extend: it would run unguarded.",
				"Make the class open (in Kotlin: 'open class', or the kotlin-spring plugin; a record cannot be one)."
						+ " Or put the method on an interface and set spring.aop.proxy-target-class=false.");
	}

	/**
	 * Others get the proxy of a bean that is part of a circular reference, but the
	 * scheduler gets the bean without it.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof Advised) && AnnotationUtils.isCandidateClass(bean.getClass(), SingletonJob.class)
				&& !JobValidator.isMock(bean)) {
			jobMethods(bean.getClass()).stream()
				.filter(JobMethodValidator::isScheduled)
				.findAny()
				.ifPresent((method) -> {
					throw new InvalidJobException(
							"The job at " + bean.getClass().getName() + "." + method.getName() + "() of bean '"
									+ beanName
									+ "' is called by Spring's scheduler without its proxy: it would run unguarded.",
							"The bean is probably part of a circular reference: break the circle, for example with @Lazy at"
									+ " one of its injection points, or move the job to a bean of its own.");
				});
		}
		return bean;
	}

	private static boolean isScheduled(Method method) {
		return AnnotatedElementUtils.isAnnotated(method, Scheduled.class)
				|| AnnotatedElementUtils.isAnnotated(method, Schedules.class);
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
			throw finalClass(where);
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
