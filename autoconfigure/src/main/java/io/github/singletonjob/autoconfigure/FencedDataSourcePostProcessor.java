package io.github.singletonjob.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.FencingSettings;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Puts the guard around the guarded DataSource. Reads the environment and no beans,
 * because it exists before all others.
 */
class FencedDataSourcePostProcessor implements BeanPostProcessor {

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	FencedDataSourcePostProcessor(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		this.beanFactory = beanFactory;
		this.environment = environment;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof DataSource dataSource
				&& beanName.equals(GuardedDataSource.find(this.beanFactory, this.environment))) {
			return FencedDataSources.guard(dataSource, settings());
		}
		return bean;
	}

	private FencingSettings settings() {
		Duration timeout = Binder.get(this.environment)
			.bind("singleton-job.fencing.idle-in-transaction-timeout", Duration.class)
			.orElse(null);
		try {
			return new FencingSettings(timeout);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(ex.getMessage() + ".",
					"Correct singleton-job.fencing.idle-in-transaction-timeout.");
		}
	}

}
