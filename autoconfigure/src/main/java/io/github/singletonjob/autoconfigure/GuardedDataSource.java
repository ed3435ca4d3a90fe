package io.github.singletonjob.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Names the DataSource that is guarded: the configured one, else the only or the primary
 * one.
 */
final class GuardedDataSource {

	static final String PROPERTY = "singleton-job.fencing.data-source";

	private GuardedDataSource() {
	}

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
			.filter((name) -> definition(beanFactory, name).map(GuardedDataSource::isDefault).orElse(true))
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
			.filter((name) -> beanFactory.findAnnotationOnBean(name, SingletonJobDataSource.class, false) == null)
			.toList();
	}

}
