package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.SingletonJob;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Looks at the methods before any bean exists, because the attempt to make a proxy of a
 * final class would fail with a message that does not name the job.
 */
class JobMethodValidator implements BeanFactoryPostProcessor {

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		for (String beanName : beanFactory.getBeanDefinitionNames()) {
			Class<?> type = beanFactory.getType(beanName, false);
			if (type != null && AnnotationUtils.isCandidateClass(type, SingletonJob.class)) {
				Class<?> userClass = ClassUtils.getUserClass(type);
				JobMethodCheck.jobMethods(userClass).forEach((method) -> JobMethodCheck.check(method, userClass));
			}
		}
	}

}
