package io.github.singletonjob.autoconfigure;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

import javax.sql.DataSource;

import io.github.singletonjob.fencing.FencedDataSources;
import io.github.singletonjob.postgres.SessionSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Finds where the Postgres store gets its own connections: as the qualified DataSource
 * gets them, else the application's only one, else as the application's connection
 * details say. A Hikari pool is not asked for connections, which the store keeps for days
 * and then ends; it is asked for its URL, its properties and the credentials that it has
 * at that moment, which can change while the application runs. Every other DataSource is
 * asked for connections.
 */
final class StoreConnections {

	/** These types moved between Boot 3.5 and Boot 4. */
	private static final List<String> DETAILS = List.of(
			"org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails",
			"org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails");

	private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

	private static final String TIMEOUT_SECONDS = "5";

	private StoreConnections() {
	}

	static @Nullable SessionSource find(ObjectProvider<DataSource> own, BeanFactory beanFactory) {
		DataSource qualified = own.getIfAvailable();
		if (qualified != null) {
			return of(qualified);
		}
		DataSource application = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		SessionSource pooled = (application != null) ? ofPool(application) : null;
		if (pooled != null) {
			return pooled;
		}
		SessionSource details = ofDetails(beanFactory);
		if (details != null) {
			return details;
		}
		return (application != null) ? unguarded(application)::getConnection : null;
	}

	private static SessionSource of(DataSource dataSource) {
		SessionSource pooled = ofPool(dataSource);
		return (pooled != null) ? pooled : dataSource::getConnection;
	}

	private static DataSource unguarded(DataSource dataSource) {
		return ClassUtils.isPresent("org.springframework.jdbc.datasource.DelegatingDataSource",
				StoreConnections.class.getClassLoader()) ? Guards.remove(dataSource) : dataSource;
	}

	private static @Nullable SessionSource ofPool(DataSource dataSource) {
		ClassLoader classLoader = StoreConnections.class.getClassLoader();
		if (!ClassUtils.isPresent(HIKARI, classLoader)) {
			return null;
		}
		try {
			Class<?> type = ClassUtils.resolveClassName(HIKARI, classLoader);
			if (!dataSource.isWrapperFor(type)) {
				return null;
			}
			Object pool = dataSource.unwrap(type);
			return () -> openLike(pool);
		}
		catch (SQLException | IllegalStateException ex) {
			// A DataSource that cannot tell is no pool that is known here
			return null;
		}
	}

	private static Connection openLike(Object pool) throws SQLException {
		Properties properties = new Properties();
		if (value(pool, "dataSourceProperties") instanceof Properties own) {
			properties.putAll(own);
		}
		Object provider = value(pool, "credentialsProvider");
		// Not every version of Hikari has these
		Object credentials = value((provider != null) ? provider : pool, "credentials");
		Object login = (credentials != null) ? credentials : pool;
		String user = text(login, "username");
		String password = text(login, "password");
		String url = text(pool, "jdbcUrl");
		Connection connection = (url != null) ? open(url, user, password, properties)
				: open(dataSource(pool, properties), user, password);
		String schema = text(pool, "schema");
		if (schema != null) {
			connection.setSchema(schema);
		}
		return connection;
	}

	private static DataSource dataSource(Object pool, Properties properties) throws SQLException {
		if (value(pool, "dataSource") instanceof DataSource dataSource) {
			return dataSource;
		}
		String type = text(pool, "dataSourceClassName");
		if (type == null) {
			throw new SQLException("The connection pool has neither a JDBC URL nor a DataSource", "08001");
		}
		Object dataSource = BeanUtils.instantiateClass(ClassUtils.resolveClassName(type, null));
		BeanWrapper target = PropertyAccessorFactory.forBeanPropertyAccess(dataSource);
		properties.forEach((name, value) -> target.setPropertyValue(name.toString(), value));
		return (DataSource) dataSource;
	}

	private static Connection open(DataSource dataSource, @Nullable String user, @Nullable String password)
			throws SQLException {
		return (user != null) ? dataSource.getConnection(user, password) : dataSource.getConnection();
	}

	private static Connection open(String url, @Nullable String user, @Nullable String password, Properties properties)
			throws SQLException {
		properties.putIfAbsent("connectTimeout", TIMEOUT_SECONDS);
		// A server that accepts the connection and stays silent is an outage, too
		properties.putIfAbsent("loginTimeout", TIMEOUT_SECONDS);
		properties.putIfAbsent("tcpKeepAlive", "true");
		if (user != null) {
			properties.setProperty("user", user);
		}
		if (password != null) {
			properties.setProperty("password", password);
		}
		return DriverManager.getConnection(url, properties);
	}

	private static @Nullable SessionSource ofDetails(BeanFactory beanFactory) {
		ClassLoader classLoader = StoreConnections.class.getClassLoader();
		for (String name : DETAILS) {
			if (ClassUtils.isPresent(name, classLoader)) {
				Object details = beanFactory.getBeanProvider(ClassUtils.resolveClassName(name, classLoader))
					.getIfUnique();
				if (details != null) {
					return () -> open(Objects.requireNonNull(text(details, "jdbcUrl")), text(details, "username"),
							text(details, "password"), new Properties());
				}
			}
		}
		return null;
	}

	private static @Nullable Object value(Object bean, String property) {
		Method getter = ReflectionUtils.findMethod(bean.getClass(), "get" + StringUtils.capitalize(property));
		if (getter == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(getter);
		return ReflectionUtils.invokeMethod(getter, bean);
	}

	private static @Nullable String text(Object bean, String property) {
		Object value = value(bean, property);
		return (value != null) ? value.toString() : null;
	}

	/** Apart, so that it is loaded only where Spring's JDBC module is present. */
	private static final class Guards {

		static DataSource remove(DataSource dataSource) {
			return FencedDataSources.unguarded(dataSource);
		}

	}

}
