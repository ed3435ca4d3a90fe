package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.fencing.FencingSettings;
import io.github.singletonjob.lease.Fence;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Guards the DataSource bean that is configured, else the only or the primary one. The
 * others are prepared, because they may be the pools below it. Reads the environment and
 * no beans, because it exists before all others.
 */
class FencedDataSourcePostProcessor implements BeanPostProcessor, PriorityOrdered {

	static final String PROPERTY = "singleton-job.fencing.data-source";

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private final Set<String> guarded = ConcurrentHashMap.newKeySet();

	FencedDataSourcePostProcessor(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		this.beanFactory = beanFactory;
		this.environment = environment;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// The target behind the proxy of a scope is seen here, too, each time it is made
		if (!(bean instanceof DataSource dataSource) || bean instanceof ScopedObject
				|| this.beanFactory.getBeanNamesForType(Fence.class, true, false).length == 0) {
			return bean;
		}
		String name = ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName)
				: beanName;
		if (name.equals(find(this.beanFactory, this.environment))) {
			this.guarded.add(name);
			return FencedDataSources.guard(dataSource, settings());
		}
		return isOfTheStore(this.beanFactory, name) ? bean : FencedDataSources.prepare(dataSource);
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

	/**
	 * Finds the bean that is guarded.
	 * @param beanFactory where to look
	 * @param environment where it may be named
	 * @return its name, or null if there is none or more than one
	 */
	static @Nullable String find(ConfigurableListableBeanFactory beanFactory, Environment environment) {
		List<String> candidates = all(beanFactory);
		String configured = environment.getProperty(PROPERTY);
		if (StringUtils.hasText(configured)) {
			if (!candidates.contains(configured)) {
				throw new InvalidJobException(
						PROPERTY + " names '" + configured + "', but no DataSource bean has that name.",
						"Name one of: " + candidates + ".");
			}
			return configured;
		}
		if (candidates.size() == 1) {
			return candidates.get(0);
		}
		return candidates.stream()
			.filter((name) -> definition(beanFactory, name).map(BeanDefinition::isPrimary).orElse(false))
			.findFirst()
			.orElseGet(() -> onlyDefault(beanFactory, candidates));
	}

	private static @Nullable String onlyDefault(ConfigurableListableBeanFactory beanFactory, List<String> candidates) {
		List<String> defaults = candidates.stream()
			.filter((name) -> definition(beanFactory, name).map(FencedDataSourcePostProcessor::isDefault).orElse(true))
			.toList();
		return (defaults.size() == 1) ? defaults.get(0) : null;
	}

	private static boolean isDefault(BeanDefinition definition) {
		return definition.isAutowireCandidate() && !definition.isFallback()
				&& !(definition instanceof AbstractBeanDefinition bean && !bean.isDefaultCandidate());
	}

	private static Optional<BeanDefinition> definition(ConfigurableListableBeanFactory beanFactory, String name) {
		return beanFactory.containsBeanDefinition(name) ? Optional.of(beanFactory.getMergedBeanDefinition(name))
				: Optional.empty();
	}

	/** All DataSource beans, except the one that is the store's alone. */
	static List<String> all(ConfigurableListableBeanFactory beanFactory) {
		return Stream.of(beanFactory.getBeanNamesForType(DataSource.class, true, false))
			.filter((name) -> !ScopedProxyUtils.isScopedTarget(name))
			.filter((name) -> !isOfTheStore(beanFactory, name))
			.toList();
	}

	// The name may be that of a bean inside another one
	private static boolean isOfTheStore(ConfigurableListableBeanFactory beanFactory, String name) {
		return beanFactory.containsBean(name)
				&& beanFactory.findAnnotationOnBean(name, SingletonJobDataSource.class, false) != null;
	}

}
