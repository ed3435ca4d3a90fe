package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.scope.JobRunBeans;
import io.github.singletonjob.scope.JobRunScope;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The scope {@code job-run}.
 */
@Configuration(proxyBeanMethods = false)
class RunScopeConfiguration {

	@Bean
	static JobRunBeans singletonJobRunBeans() {
		return new JobRunBeans();
	}

	@Bean
	static BeanFactoryPostProcessor singletonJobRunScopeRegistration() {
		return (beanFactory) -> beanFactory.registerScope(JobRunScope.NAME,
				beanFactory.getBean("singletonJobRunBeans", JobRunBeans.class));
	}

}
