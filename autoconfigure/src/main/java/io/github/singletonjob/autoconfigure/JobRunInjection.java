package io.github.singletonjob.autoconfigure;

import java.io.Serializable;

import io.github.singletonjob.JobRun;

import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Lets a {@link JobRun} be injected once and resolve to the run of the calling thread, as
 * a request is injected in the web.
 */
class JobRunInjection implements BeanFactoryPostProcessor {

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		// Spring makes a proxy only for a factory that is serializable
		beanFactory.registerResolvableDependency(JobRun.class, (ObjectFactory<JobRun> & Serializable) JobRun::current);
	}

}
