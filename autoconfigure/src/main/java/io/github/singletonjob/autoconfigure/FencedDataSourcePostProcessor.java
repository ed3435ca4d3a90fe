package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.FencingSettings;
import io.github.singletonjob.lease.Fence;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;

/**
 * Puts the guard around the guarded DataSource. Reads the environment and no beans,
 * because it exists before all others.
 */
class FencedDataSourcePostProcessor implements BeanPostProcessor, PriorityOrdered {

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private final Set<String> guarded = ConcurrentHashMap.newKeySet();

	FencedDataSourcePostProcessor(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		this.beanFactory = beanFactory;
		this.environment = environment;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof DataSource dataSource
				&& beanName.equals(GuardedDataSource.find(this.beanFactory, this.environment))
				&& this.beanFactory.getBeanNamesForType(Fence.class, true, false).length > 0) {
			this.guarded.add(beanName);
			return FencedDataSources.guard(dataSource, settings());
		}
		return bean;
	}

	/** Whether the bean was seen here: one that was created before us was not. */
	boolean hasGuarded(String beanName) {
		return this.guarded.contains(beanName);
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	private boolean refusesCommonPool() {
		return Binder.get(this.environment)
			.bind("singleton-job.fencing.common-pool", SingletonJobProperties.CommonPool.class)
			.map(SingletonJobProperties.CommonPool.REFUSE::equals)
			.orElse(false);
	}

	private FencingSettings settings() {
		Duration timeout = Binder.get(this.environment)
			.bind("singleton-job.fencing.idle-in-transaction-timeout", Duration.class)
			.orElse(null);
		try {
			return new FencingSettings(timeout, refusesCommonPool());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(ex.getMessage() + ".",
					"Correct singleton-job.fencing.idle-in-transaction-timeout.");
		}
	}

}
