package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.scope.RequestScopeForRun;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.RequestScope;

/**
 * Request-scoped beans inside a run.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.web.context.request.RequestContextHolder")
class RunRequestConfiguration {

	@Bean
	static RequestScopeForRun singletonJobRunRequest() {
		return new RequestScopeForRun();
	}

	/** A web application has the scope already. */
	@Bean
	static BeanFactoryPostProcessor singletonJobRequestScopeRegistration() {
		return (beanFactory) -> {
			if (beanFactory.getRegisteredScope(WebApplicationContext.SCOPE_REQUEST) == null) {
				beanFactory.registerScope(WebApplicationContext.SCOPE_REQUEST, new RequestScope());
			}
		};
	}

}
