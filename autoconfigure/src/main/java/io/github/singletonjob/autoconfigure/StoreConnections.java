package io.github.singletonjob.autoconfigure;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.postgres.SessionSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;

/**
 * Finds where the Postgres store gets its own connections: the qualified DataSource, else
 * the application's connection details without a pool, else the application's DataSource.
 */
final class StoreConnections {

	private StoreConnections() {
	}

	static @Nullable SessionSource find(ObjectProvider<DataSource> own, BeanFactory beanFactory) {
		DataSource qualified = own.getIfAvailable();
		if (qualified != null) {
			return qualified::getConnection;
		}
		SessionSource details = DetailedConnections.find(beanFactory);
		if (details != null) {
			return details;
		}
		DataSource application = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (application == null) {
			return null;
		}
		return isSpringJdbcPresent() ? Unguarded.of(application) : application::getConnection;
	}

	private static boolean isSpringJdbcPresent() {
		return ClassUtils.isPresent("org.springframework.jdbc.datasource.DelegatingDataSource",
				StoreConnections.class.getClassLoader());
	}

	/** Apart, so that it is loaded only where Spring's JDBC module is present. */
	private static final class Unguarded {

		static SessionSource of(DataSource dataSource) {
			return FencedDataSources.unguarded(dataSource)::getConnection;
		}

	}

}
