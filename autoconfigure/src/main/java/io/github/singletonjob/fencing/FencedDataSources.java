package io.github.singletonjob.fencing;

import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Guards data sources: every transaction that a run commits on one of their connections
 * is checked by the database itself.
 * <p>
 * The guarded data source is a proxy that stays what its target is, a
 * {@code HikariDataSource} or an {@code EmbeddedDatabase} for those who inject it so, and
 * intercepts {@code getConnection} alone.
 */
public final class FencedDataSources {

	private FencedDataSources() {
	}

	/**
	 * Guards a data source with the default settings.
	 * @param target the data source
	 * @return the guarded data source, or the same if it is guarded already
	 */
	public static DataSource guard(DataSource target) {
		return guard(target, FencingSettings.defaults());
	}

	/**
	 * Guards a data source.
	 * @param target the data source
	 * @param settings the settings
	 * @return the guarded data source, or the same if it is guarded already
	 */
	public static DataSource guard(DataSource target, FencingSettings settings) {
		return guard(target, settings, new FenceCheck(new FenceTable()));
	}

	static DataSource guard(DataSource target, FencingSettings settings, FenceCheck check) {
		if (isGuarded(target)) {
			return target;
		}
		ConnectionInterceptor interceptor = new ConnectionInterceptor(check, new IdleTimeout.Sessions(settings),
				settings.refusesCommonPool());
		if (Proxy.isProxyClass(target.getClass()) || Modifier.isFinal(target.getClass().getModifiers())) {
			return proxy(target, interceptor, false);
		}
		try {
			return proxy(target, interceptor, true);
		}
		catch (AopConfigException ex) {
			// A class that cannot be extended, such as that of an embedded database
			return proxy(target, interceptor, false);
		}
	}

	private static DataSource proxy(DataSource target, ConnectionInterceptor interceptor, boolean ofClass) {
		NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(interceptor);
		advisor.setMappedName("getConnection");
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(ofClass);
		factory.addAdvisor(advisor);
		return (DataSource) factory.getProxy(target.getClass().getClassLoader());
	}

	/**
	 * Whether a data source hands out guarded connections, also through other proxies and
	 * {@link DelegatingDataSource} around it.
	 * @param dataSource the data source
	 * @return whether it is guarded
	 */
	public static boolean isGuarded(DataSource dataSource) {
		return findGuarded(dataSource) != null;
	}

	/**
	 * The data source under the guard, for the fence's own statements.
	 * @param dataSource a data source, guarded or not
	 * @return the guarded data source's target, or the same if it is not guarded
	 */
	public static DataSource unguarded(DataSource dataSource) {
		Advised guarded = findGuarded(dataSource);
		return (guarded != null && AopProxyUtils.getSingletonTarget(guarded) instanceof DataSource target) ? target
				: dataSource;
	}

	/**
	 * Whether the calling thread has begun a transaction on a guarded connection, by the
	 * connection itself or an {@code EntityManager} and not by Spring, that is still
	 * open. A run must not begin then: what it writes in that transaction would be
	 * committed after it.
	 * @return whether there is such a transaction
	 */
	public static boolean isTransactionOpenOnThisThread() {
		return FencedTransaction.isAnyOpenOnThisThread();
	}

	/**
	 * The fence table that a data source's guard checks.
	 * @param dataSource a data source, guarded or not
	 * @return the table
	 */
	static FenceTable table(DataSource dataSource) {
		Advised guarded = findGuarded(dataSource);
		ConnectionInterceptor interceptor = (guarded != null) ? interceptor(guarded) : null;
		return (interceptor != null) ? interceptor.table() : new FenceTable();
	}

	private static @Nullable Advised findGuarded(@Nullable Object dataSource) {
		if (dataSource instanceof Advised advised) {
			return (interceptor(advised) != null) ? advised : findGuarded(AopProxyUtils.getSingletonTarget(advised));
		}
		return (dataSource instanceof DelegatingDataSource delegating) ? findGuarded(delegating.getTargetDataSource())
				: null;
	}

	private static @Nullable ConnectionInterceptor interceptor(Advised advised) {
		for (Advisor advisor : advised.getAdvisors()) {
			if (advisor.getAdvice() instanceof ConnectionInterceptor interceptor) {
				return interceptor;
			}
		}
		return null;
	}

}
