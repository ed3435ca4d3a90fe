package io.github.singletonjob.autoconfigure;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

import io.github.singletonjob.postgres.SessionSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Connections without a pool, made with Boot's details of the application's database. The
 * type of these moved between Boot 3.5 and Boot 4, so it is looked up by its names.
 */
final class DetailedConnections implements SessionSource {

	private static final List<String> TYPES = List.of(
			"org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails",
			"org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails");

	private static final String TIMEOUT_SECONDS = "5";

	private final Class<?> type;

	private final Object details;

	private DetailedConnections(Class<?> type, Object details) {
		this.type = type;
		this.details = details;
	}

	static @Nullable SessionSource find(BeanFactory beanFactory) {
		ClassLoader classLoader = DetailedConnections.class.getClassLoader();
		for (String name : TYPES) {
			if (ClassUtils.isPresent(name, classLoader)) {
				Class<?> type = ClassUtils.resolveClassName(name, classLoader);
				Object details = beanFactory.getBeanProvider(type).getIfUnique();
				if (details != null) {
					return new DetailedConnections(type, details);
				}
			}
		}
		return null;
	}

	@Override
	public Connection open() throws SQLException {
		Properties properties = new Properties();
		properties.setProperty("connectTimeout", TIMEOUT_SECONDS);
		// A server that accepts the connection and stays silent is an outage, too
		properties.setProperty("loginTimeout", TIMEOUT_SECONDS);
		properties.setProperty("tcpKeepAlive", "true");
		set(properties, "user", text("getUsername"));
		set(properties, "password", text("getPassword"));
		return DriverManager.getConnection(Objects.requireNonNull(text("getJdbcUrl")), properties);
	}

	private @Nullable String text(String getter) {
		return (String) ReflectionUtils
			.invokeMethod(Objects.requireNonNull(ReflectionUtils.findMethod(this.type, getter)), this.details);
	}

	private static void set(Properties properties, String name, @Nullable String value) {
		if (value != null) {
			properties.setProperty(name, value);
		}
	}

}
