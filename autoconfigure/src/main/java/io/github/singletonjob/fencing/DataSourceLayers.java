package io.github.singletonjob.fencing;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SmartDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ReflectionUtils;

/**
 * What is known of the kinds of data sources: which is a pool, and what is below a layer.
 */
final class DataSourceLayers {

	private static final List<String> POOLS = List.of("com.zaxxer.hikari.", "org.apache.tomcat.jdbc.pool.",
			"org.apache.tomcat.dbcp.", "org.apache.commons.dbcp2.", "com.mchange.v2.c3p0.", "com.alibaba.druid.pool.",
			"oracle.ucp.", "org.vibur.dbcp.", "org.postgresql.", "org.h2.", "org.mariadb.");

	private static final List<String> ENLISTED = List.of("com.atomikos.jdbc.", "bitronix.tm.resource.jdbc.",
			"org.apache.commons.dbcp2.managed.", "org.apache.tomcat.dbcp.dbcp2.managed.", "com.arjuna.ats.",
			"dev.snowdrop.boot.narayana.", "me.snowdrop.boot.narayana.", "org.jboss.jca.adapters.jdbc.",
			"org.apache.openejb.resource.jdbc.managed.");

	// Has the methods of a DelegatingDataSource by other names
	private static final List<String> PROXY_DATA_SOURCE = List.of("net.ttddyy.dsproxy.support.ProxyDataSource");

	private DataSourceLayers() {
	}

	/**
	 * Whether nobody else uses a connection of a data source until it is closed, so that
	 * a transaction that is open then has ended.
	 * @param dataSource the data source
	 * @return whether that is known
	 */
	static boolean isPool(DataSource dataSource) {
		if (dataSource instanceof AbstractDriverBasedDataSource) {
			return !(dataSource instanceof SmartDataSource);
		}
		return isOneOf(dataSource, POOLS) && !isEnlisted(dataSource);
	}

	/**
	 * Whether a data source enlists its connections in JTA transactions.
	 * @param dataSource the data source
	 * @return whether it is known to do so
	 */
	static boolean isEnlisted(DataSource dataSource) {
		return isOneOf(dataSource, ENLISTED);
	}

	// Or one that extends it
	private static boolean isOneOf(DataSource dataSource, List<String> prefixes) {
		for (Class<?> type = dataSource.getClass(); type != null; type = type.getSuperclass()) {
			String name = type.getName();
			if (prefixes.stream().anyMatch(name::startsWith)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether each connection of a data source is one of the one below it, so that a
	 * guard there is enough.
	 * @param dataSource the data source
	 * @return whether that is known
	 */
	static boolean isTransparent(DataSource dataSource) {
		return dataSource instanceof Advised || isOfSpring(dataSource) || isOneOf(dataSource, PROXY_DATA_SOURCE);
	}

	// One of the application's own may have other connections, too
	private static boolean isOfSpring(DataSource dataSource) {
		return dataSource instanceof DelegatingDataSource
				&& (isJoining(dataSource) || dataSource.getClass().getName().startsWith("org.springframework."));
	}

	/**
	 * Whether a layer may join a transaction, or open a connection later, when it is
	 * asked for one.
	 * @param dataSource the data source
	 * @return whether it is a layer of these kinds
	 */
	static boolean isJoining(DataSource dataSource) {
		return dataSource instanceof TransactionAwareDataSourceProxy
				|| dataSource instanceof LazyConnectionDataSourceProxy;
	}

	/**
	 * The data sources that are below another one.
	 * @param dataSource the data source
	 * @return what is known to be below it
	 */
	static List<Below> below(DataSource dataSource) {
		List<Below> below = new ArrayList<>();
		if (dataSource instanceof Advised advised) {
			add(below, target(advised), (target) -> exchange(advised, target));
		}
		else if (dataSource instanceof DelegatingDataSource layer) {
			add(below, layer.getTargetDataSource(), layer::setTargetDataSource);
			if (layer instanceof LazyConnectionDataSourceProxy lazy) {
				add(below, read(LazyConnectionDataSourceProxy.class, "readOnlyDataSource", lazy),
						lazy::setReadOnlyDataSource);
			}
		}
		else if (dataSource instanceof AbstractRoutingDataSource routing) {
			addRoutes(below, routing);
		}
		else if (isOneOf(dataSource, PROXY_DATA_SOURCE)) {
			add(below, call(dataSource, "getDataSource"), (target) -> call(dataSource, "setDataSource", target));
		}
		else {
			add(below, preparedBelow(dataSource), (target) -> {
			});
		}
		return below;
	}

	private static void add(List<Below> below, @Nullable Object target, Consumer<DataSource> exchange) {
		if (target instanceof DataSource found) {
			below.add(new Below(found, exchange));
		}
	}

	// As JDBC has it; a layer may answer for one of several
	private static @Nullable Object preparedBelow(DataSource layer) {
		try {
			return (!isPool(layer) && layer.isWrapperFor(DataSourceGuard.Resource.class))
					? layer.unwrap(DataSourceGuard.Resource.class) : null;
		}
		catch (SQLException | RuntimeException ex) {
			// It does not tell
			return null;
		}
	}

	private static @Nullable Object call(DataSource layer, String method, DataSource... args) {
		Class<?>[] types = new Class<?>[args.length];
		Arrays.fill(types, DataSource.class);
		Method found = ReflectionUtils.findMethod(layer.getClass(), method, types);
		return (found != null) ? ReflectionUtils.invokeMethod(found, layer, (Object[]) args) : null;
	}

	private static @Nullable Object target(Advised advised) {
		TargetSource source = advised.getTargetSource();
		try {
			return (source.isStatic() || advised instanceof ScopedObject) ? source.getTarget() : null;
		}
		catch (Exception ex) {
			// The scope is not active now
			return null;
		}
	}

	private static void exchange(Advised advised, DataSource target) {
		if (advised.getTargetSource().isStatic() && !advised.isFrozen()) {
			advised.setTargetSource(new SingletonTargetSource(target));
		}
	}

	// Not by its setters: they would have the keys resolved twice, and forget what a
	// subclass has added
	private static void addRoutes(List<Below> below, AbstractRoutingDataSource routing) {
		if (read(AbstractRoutingDataSource.class, "resolvedDataSources", routing) instanceof Map<?, ?> routes) {
			@SuppressWarnings("unchecked")
			Map<Object, DataSource> resolved = (Map<Object, DataSource>) routes;
			resolved.entrySet().forEach((route) -> add(below, route.getValue(), route::setValue));
		}
		String byDefault = "resolvedDefaultDataSource";
		add(below, read(AbstractRoutingDataSource.class, byDefault, routing),
				(target) -> write(AbstractRoutingDataSource.class, byDefault, routing, target));
	}

	private static @Nullable Object read(Class<?> type, String name, DataSource dataSource) {
		Field field = ReflectionUtils.findField(type, name);
		if (field == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		return ReflectionUtils.getField(field, dataSource);
	}

	private static void write(Class<?> type, String name, DataSource dataSource, DataSource target) {
		Field field = ReflectionUtils.findField(type, name);
		if (field != null) {
			ReflectionUtils.makeAccessible(field);
			ReflectionUtils.setField(field, dataSource, target);
		}
	}

	/**
	 * A data source below another one.
	 *
	 * @param dataSource the data source
	 * @param exchange puts another one into its place, where that can be done
	 */
	record Below(DataSource dataSource, Consumer<DataSource> exchange) {
	}

}
