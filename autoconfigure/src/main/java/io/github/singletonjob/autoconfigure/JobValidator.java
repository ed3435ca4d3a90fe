package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.SingletonJob;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Looks at every bean when all singletons exist, and fails the start for a job that could
 * run unguarded, unnamed or twice. Nothing of this waits for the first call.
 */
class JobValidator implements SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {

	private static final Log logger = LogFactory.getLog(JobValidator.class);

	private static final String MOCKITO = "org.mockito.Mockito";

	private static final String TRANSACTION_INTERCEPTOR = "org.springframework.transaction.interceptor.TransactionInterceptor";

	private final ConfigurableListableBeanFactory beanFactory;

	private final JobDefinitions definitions;

	private final JobSettings settings;

	private final StandByJobs standByJobs;

	JobValidator(ConfigurableListableBeanFactory beanFactory, JobDefinitions definitions, JobSettings settings,
			StandByJobs standByJobs) {
		this.beanFactory = beanFactory;
		this.definitions = definitions;
		this.settings = settings;
		this.standByJobs = standByJobs;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Map<String, String> places = new HashMap<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : beanClass(beanName);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				JobMethodValidator.jobMethods(type).forEach((method) -> validate(beanName, type, method, places));
			}
		}
		logger.info("Singleton jobs " + new TreeSet<>(places.keySet()) + " " + this.settings.describe());
		this.settings.names()
			.stream()
			.filter((name) -> !places.containsKey(name))
			.forEach(this::validateSettingsWithoutAnnotation);
	}

	/**
	 * Looks at the beans of a child context, whose methods nothing guards unless it has
	 * this auto-configuration as well.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		ApplicationContext context = event.getApplicationContext();
		if (!(context.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory child)
				|| child == this.beanFactory || child.getBeanNamesForType(JobValidator.class, true, false).length > 0) {
			return;
		}
		for (String beanName : child.getBeanDefinitionNames()) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : child.getType(beanName, false);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				JobMethodValidator.jobMethods(ClassUtils.getUserClass(type)).forEach((method) -> {
					throw new InvalidJobException(
							"The job at " + ClassUtils.getUserClass(type).getName() + "." + method.getName()
									+ "() of bean '" + beanName + "' is in the child context '"
									+ context.getDisplayName()
									+ "', which has no singleton jobs of its own: it would run unguarded.",
							"Import SingletonJobAutoConfiguration in the child context as well, or move the job to the"
									+ " parent.");
				});
			}
		}
	}

	private void validateSettingsWithoutAnnotation(String name) {
		this.settings.settings(name, JobOptions.defaults());
		logger.info(name + ": singleton-job.jobs has settings for it, but no method has @SingletonJob(\"" + name
				+ "\"). They count only for SingletonJobs.run; if there is a misspelling, correct it");
	}

	private void validate(String beanName, Class<?> type, Method method, Map<String, String> places) {
		JobMethodValidator.check(method, type);
		JobDefinition job = this.definitions.of(method);
		String place = job.describeMethod() + " of bean '" + beanName + "'";
		String other = places.putIfAbsent(job.id().name(), place);
		if (other != null) {
			throw new InvalidJobException("Two jobs have the name '" + job.id().name() + "': " + other + " and " + place
					+ ". While one runs, the other would be skipped.", "Give each job a name of its own.");
		}
		Object bean = existingSingleton(beanName);
		if (bean != null && !(bean instanceof FactoryBean) && !isMock(bean)) {
			requireAdvised(bean, place, job);
		}
		requireContinuable(job);
		if (bean == null || !isMock(bean)) {
			this.standByJobs.add(beanName, job);
		}
	}

	private static void requireAdvised(Object bean, String place, JobDefinition job) {
		int transaction = -1;
		if (bean instanceof Advised advised) {
			Advisor[] advisors = advised.getAdvisors();
			for (int i = 0; i < advisors.length; i++) {
				if (advisors[i] instanceof SingletonJobAdvisor) {
					requireOutside(transaction, place, job);
					return;
				}
				if (advisors[i].getAdvice().getClass().getName().equals(TRANSACTION_INTERCEPTOR)) {
					transaction = i;
				}
			}
		}
		throw new InvalidJobException(
				"The job '" + job.id().name() + "' at " + place + " is not reached by a proxy: it would run unguarded.",
				"The bean was probably created too early, because a BeanPostProcessor or a BeanFactoryPostProcessor"
						+ " depends on it: move the job to a bean of its own.");
	}

	private static void requireOutside(int transaction, String place, JobDefinition job) {
		if (transaction >= 0) {
			throw new InvalidJobException(
					"Transactions are ordered around the job '" + job.id().name() + "' at " + place
							+ ": its lease would be given back before the commit.",
					"Remove the order of @EnableTransactionManagement, or set one above " + SingletonJobAdvisor.ORDER
							+ ".");
		}
	}

	private static void requireContinuable(JobDefinition job) {
		if (!job.continuous()) {
			return;
		}
		String where = "The job '" + job.id().name() + "' at " + job.describeMethod() + " is continuous";
		if (!job.schedules().isEmpty() || job.schedules().others()) {
			throw new InvalidJobException(where + " and has a schedule as well.",
					"Remove @Scheduled: a continuous job is started with the application and runs all the time."
							+ " Or remove continuous = true.");
		}
		if (JobNames.isExpression(job.id().name())) {
			throw new InvalidJobException(where + " and has a name that is evaluated for each call.",
					"Give it a plain name.");
		}
		if (job.method().getParameterCount() > 0) {
			throw new InvalidJobException(where + " and has parameters, for which nobody has values.",
					"Remove the parameters.");
		}
		if (job.settings().length().maxRun() != null) {
			throw new InvalidJobException(where + " and has a max-run, after which it would be cancelled.",
					"Remove max-run.");
		}
	}

	/** A job that a test has replaced by a mock needs no lease. */
	static boolean isMock(Object bean) {
		ClassLoader classLoader = bean.getClass().getClassLoader();
		if (!ClassUtils.isPresent(MOCKITO, classLoader)) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName(MOCKITO, classLoader);
		Object details = call(ClassUtils.getMethod(mockito, "mockingDetails", Object.class), null, bean);
		Method isMock = ClassUtils.getMethod(ClassUtils.resolveClassName("org.mockito.MockingDetails", classLoader),
				"isMock");
		return Boolean.TRUE.equals(call(isMock, details));
	}

	private static @Nullable Object call(Method method, @Nullable Object target, Object... arguments) {
		return ReflectionUtils.invokeMethod(method, target, arguments);
	}

	private @Nullable Object existingSingleton(String beanName) {
		BeanDefinition definition = this.beanFactory.getBeanDefinition(beanName);
		return (definition.isSingleton() && !definition.isAbstract()) ? this.beanFactory.getSingleton(beanName) : null;
	}

	private @Nullable Class<?> beanClass(String beanName) {
		if (existingSingleton(beanName) instanceof Advised advised) {
			return AopUtils.getTargetClass(advised);
		}
		Class<?> type = this.beanFactory.getType(beanName, false);
		return (type != null) ? ClassUtils.getUserClass(type) : null;
	}

}
