package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.postgres.SessionSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.util.ClassUtils;

/**
 * Finds where the Postgres store gets its own connections: the qualified DataSource, else
 * the application's connection details without a pool, else the application's DataSource.
 */
final class StoreConnections {

	private static final String TIMEOUT_SECONDS = "5";

	private StoreConnections() {
	}

	static @Nullable SessionSource find(ObjectProvider<DataSource> own, BeanFactory beanFactory) {
		DataSource qualified = own.getIfAvailable();
		if (qualified != null) {
			return qualified::getConnection;
		}
		if (ClassUtils.isPresent("org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails",
				StoreConnections.class.getClassLoader())) {
			SessionSource details = Details.find(beanFactory);
			if (details != null) {
				return details;
			}
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

	/** Apart, so that it is loaded only where Boot's JDBC module is present. */
	private static final class Details {

		static @Nullable SessionSource find(BeanFactory beanFactory) {
			JdbcConnectionDetails details = beanFactory.getBeanProvider(JdbcConnectionDetails.class).getIfUnique();
			return (details != null) ? () -> open(details) : null;
		}

		private static Connection open(JdbcConnectionDetails details) throws SQLException {
			Properties properties = new Properties();
			properties.setProperty("connectTimeout", TIMEOUT_SECONDS);
			// A server that accepts the connection and stays silent is an outage, too
			properties.setProperty("loginTimeout", TIMEOUT_SECONDS);
			properties.setProperty("tcpKeepAlive", "true");
			set(properties, "user", details.getUsername());
			set(properties, "password", details.getPassword());
			return DriverManager.getConnection(details.getJdbcUrl(), properties);
		}

		private static void set(Properties properties, String name, @Nullable String value) {
			if (value != null) {
				properties.setProperty(name, value);
			}
		}

	}

}
