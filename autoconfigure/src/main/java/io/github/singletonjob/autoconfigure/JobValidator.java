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
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Looks at every bean when all singletons exist, and fails the start for a job that could
 * run unguarded, unnamed or twice. Nothing of this waits for the first call.
 */
class JobValidator implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(JobValidator.class);

	private static final String TRANSACTION_INTERCEPTOR = "org.springframework.transaction.interceptor.TransactionInterceptor";

	private final ConfigurableListableBeanFactory beanFactory;

	private final JobDefinitions definitions;

	private final JobSettings settings;

	private final JobCandidates candidates;

	JobValidator(ConfigurableListableBeanFactory beanFactory, JobDefinitions definitions, JobSettings settings,
			JobCandidates candidates) {
		this.beanFactory = beanFactory;
		this.definitions = definitions;
		this.settings = settings;
		this.candidates = candidates;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Map<String, String> places = new HashMap<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : beanClass(beanName);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				JobMethodCheck.jobMethods(type).forEach((method) -> validate(beanName, type, method, places));
			}
		}
		logger.info("Singleton jobs " + new TreeSet<>(places.keySet()) + " " + this.settings.describe());
		this.settings.names()
			.stream()
			.filter((name) -> !places.containsKey(name))
			.forEach(this::validateSettingsWithoutAnnotation);
	}

	private void validateSettingsWithoutAnnotation(String name) {
		this.settings.settings(name, JobOptions.defaults());
		logger.info(name + ": singleton-job.jobs has settings for it, but no method has @SingletonJob(\"" + name
				+ "\"). They count only for SingletonJobs.run; if there is a misspelling, correct it");
	}

	private void validate(String beanName, Class<?> type, Method method, Map<String, String> places) {
		JobMethodCheck.check(method, type);
		JobDefinition job = this.definitions.of(method);
		String place = job.describeMethod() + " of bean '" + beanName + "'";
		String other = places.putIfAbsent(job.id().name(), place);
		if (other != null) {
			throw new InvalidJobException("Two jobs have the name '" + job.id().name() + "': " + other + " and " + place
					+ ". While one runs, the other would be skipped.", "Give each job a name of its own.");
		}
		Object bean = existingSingleton(beanName);
		if (bean != null && !(bean instanceof FactoryBean) && !Mocks.isMock(bean)) {
			requireAdvised(bean, place, job);
		}
		ContinuousJobCheck.check(job);
		if (bean == null || !Mocks.isMock(bean)) {
			this.candidates.add(beanName, job);
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
