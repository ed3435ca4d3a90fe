package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.lease.Fence;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Says at start what a stale holder could still write to: one warning, or a failure where
 * fencing is required.
 */
class FencingReport implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(FencingReport.class);

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
		List<String> dataSources = new ArrayList<>(GuardedDataSource.all(this.beanFactory));
		if (this.beanFactory.getBeanNamesForType(Fence.class, false, false).length == 0) {
			unfenced.add(this.settings.enabled()
					? "everything, because no DataSource is guarded (" + GuardedDataSource.PROPERTY + ")"
					: "everything, because singleton-job.fencing.enabled is false");
		}
		else {
			dataSources.remove(GuardedDataSource.find(this.beanFactory, this.environment));
			dataSources.forEach((name) -> unfenced.add("DataSource bean '" + name + "'"));
		}
		addBeans(unfenced, "org.springframework.transaction.jta.JtaTransactionManager", "JTA transactions of bean ");
		addBeans(unfenced, "io.r2dbc.spi.ConnectionFactory", "R2DBC connections of bean ");
		return unfenced;
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
