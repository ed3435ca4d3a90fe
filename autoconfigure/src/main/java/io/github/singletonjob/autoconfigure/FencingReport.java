package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.lease.Fence;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Says at start what a stale holder could still write to: one warning, or a failure where
 * fencing is required.
 */
class FencingReport implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(FencingReport.class);

	private static final boolean SPRING_JDBC_PRESENT = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.DelegatingDataSource", FencingReport.class.getClassLoader());

	private final ConfigurableListableBeanFactory beanFactory;

	private final Environment environment;

	private final SingletonJobProperties.Fencing settings;

	FencingReport(ConfigurableListableBeanFactory beanFactory, Environment environment,
			SingletonJobProperties properties) {
		this.beanFactory = beanFactory;
		this.environment = environment;
		this.settings = properties.fencing();
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<String> unfenced = unfenced();
		if (unfenced.isEmpty()) {
			return;
		}
		String message = "Not fenced, so that a stale holder can still write: " + String.join("; ", unfenced);
		if (this.settings.required()) {
			throw new InvalidJobException(message + ".",
					"Guard its DataSource (singleton-job.fencing.data-source names the one that is fenced), or set singleton-job.fencing.required=false and guard its"
							+ " writes by row or by idempotency key.");
		}
		logger.warn(message + ". Guard its writes by row or by idempotency key");
	}

	private List<String> unfenced() {
		List<String> unfenced = new ArrayList<>();
		if (this.beanFactory.getBeanProvider(Fence.class).getIfAvailable() == null) {
			unfenced.add("everything, because " + reason());
		}
		else {
			Set<DataSource> beans = Collections.newSetFromMap(new IdentityHashMap<>());
			for (String name : FencedDataSourcePostProcessor.all(this.beanFactory)) {
				addDataSource(unfenced, name, beans);
			}
			if (SPRING_JDBC_PRESENT) {
				addTransactions(unfenced, beans);
			}
		}
		addBeans(unfenced, "org.springframework.transaction.jta.JtaTransactionManager", "JTA transactions of bean ");
		addBeans(unfenced, "io.r2dbc.spi.ConnectionFactory", "R2DBC connections of bean ");
		return unfenced;
	}

	private String reason() {
		if (!this.settings.enabled()) {
			return "singleton-job.fencing.enabled is false";
		}
		String chosen = FencedDataSourcePostProcessor.find(this.beanFactory, this.environment);
		if (chosen != null && isEnlisted(existing(chosen))) {
			return "the connections of DataSource bean '" + chosen + "' are enlisted in JTA transactions";
		}
		return "no DataSource is guarded (" + FencedDataSourcePostProcessor.PROPERTY + ")";
	}

	private void addDataSource(List<String> unfenced, String name, Set<DataSource> beans) {
		DataSource dataSource = existing(name);
		if (dataSource != null) {
			beans.add(dataSource);
		}
		if (isEnlisted(dataSource)) {
			unfenced.add("JTA transactions of DataSource bean '" + name + "'");
		}
		else if (!isGuarded(dataSource)
				&& !name.equals(FencedDataSourcePostProcessor.find(this.beanFactory, this.environment))) {
			unfenced.add("DataSource bean '" + name + "'");
		}
	}

	// A pool that only a transaction manager has
	private void addTransactions(List<String> unfenced, Set<DataSource> beans) {
		for (String name : this.beanFactory.getBeanNamesForType(ResourceTransactionManager.class, true, false)) {
			if (this.beanFactory.getSingleton(name) instanceof ResourceTransactionManager manager
					&& manager.getResourceFactory() instanceof DataSource dataSource && !isGuarded(dataSource)
					&& !beans.contains(dataSource)) {
				unfenced.add("transactions of bean '" + name + "', whose DataSource is not guarded");
			}
		}
	}

	private @Nullable DataSource existing(String name) {
		return this.beanFactory.containsSingleton(name) ? this.beanFactory.getBean(name, DataSource.class) : null;
	}

	private boolean isGuarded(@Nullable DataSource dataSource) {
		return dataSource != null && SPRING_JDBC_PRESENT && FencedDataSources.isGuarded(dataSource);
	}

	private boolean isEnlisted(@Nullable DataSource dataSource) {
		return dataSource != null && SPRING_JDBC_PRESENT && FencedDataSources.isEnlisted(dataSource);
	}

	private void addBeans(List<String> unfenced, String typeName, String description) {
		ClassLoader classLoader = this.beanFactory.getBeanClassLoader();
		if (ClassUtils.isPresent(typeName, classLoader)) {
			Class<?> type = ClassUtils.resolveClassName(typeName, classLoader);
			for (String name : this.beanFactory.getBeanNamesForType(type, true, false)) {
				unfenced.add(description + "'" + name + "'");
			}
		}
	}

}
