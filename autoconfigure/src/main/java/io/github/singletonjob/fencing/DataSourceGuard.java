package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ConnectionBuilder;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.Future;

import javax.sql.DataSource;
import javax.sql.PooledConnection;

import io.github.singletonjob.CurrentJobRun;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.RawTargetAccess;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.InfrastructureProxy;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The guard around one data source: a proxy that stays what its target is, and guards the
 * connections that the target hands out. It sleeps until it is told how to check them.
 * <p>
 * For Spring's transactions the proxy is the same resource as its target.
 */
final class DataSourceGuard implements MethodInterceptor {

	private static final ThreadLocal<Boolean> OPENING_FOR_THE_FENCE = new ThreadLocal<>();

	private final DataSource target;

	private final boolean pool;

	private volatile @Nullable Checks checks;

	private volatile boolean hasFence;

	private volatile boolean mirrored;

	private DataSourceGuard(DataSource target) {
		this.target = target;
		this.pool = DataSourceLayers.isPool(target);
	}

	/**
	 * Puts a sleeping guard around a data source.
	 * @param target the data source
	 * @return a proxy, of the target's class where it can be extended
	 */
	static DataSource around(DataSource target) {
		DataSourceGuard guard = new DataSourceGuard(target);
		if (!canBeExtended(target)) {
			return guard.proxy(false);
		}
		try {
			return guard.proxy(true);
		}
		catch (AopConfigException ex) {
			// Such as the private class of an embedded database
			return guard.proxy(false);
		}
	}

	/**
	 * Whether a proxy can be of the target's class.
	 * @param target the data source
	 * @return whether class and methods are not final
	 */
	static boolean canBeExtended(DataSource target) {
		Class<?> type = target.getClass();
		Method method = ReflectionUtils.findMethod(type, "getConnection");
		return !Proxy.isProxyClass(type) && !Modifier.isFinal(type.getModifiers())
				&& (method == null || !Modifier.isFinal(method.getModifiers()));
	}

	private DataSource proxy(boolean ofClass) {
		ProxyFactory factory = new ProxyFactory(this.target);
		factory.setProxyTargetClass(ofClass);
		factory.addInterface(Resource.class);
		factory.addAdvisor(new Intercepted(this));
		ClassLoader loader = this.target.getClass().getClassLoader();
		return (DataSource) factory
			.getProxy(ClassUtils.isVisible(Resource.class, loader) ? loader : Resource.class.getClassLoader());
	}

	/**
	 * The guard of a proxy.
	 * @param dataSource any data source
	 * @return its guard, or null if it is no proxy of ours
	 */
	static @Nullable DataSourceGuard of(DataSource dataSource) {
		if (dataSource instanceof Resource && dataSource instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor.getAdvice() instanceof DataSourceGuard guard) {
					return guard;
				}
			}
		}
		return null;
	}

	/**
	 * Opens a connection past all guards below a data source.
	 * @param dataSource the data source, which opens it at once
	 * @return the connection
	 * @throws SQLException if there is none
	 */
	static Connection openForTheFence(DataSource dataSource) throws SQLException {
		OPENING_FOR_THE_FENCE.set(true);
		try {
			return dataSource.getConnection();
		}
		finally {
			OPENING_FOR_THE_FENCE.remove();
		}
	}

	DataSource target() {
		return this.target;
	}

	boolean isAwake() {
		return this.checks != null;
	}

	@Nullable Checks checks() {
		return this.checks;
	}

	void wake(Checks checks) {
		if (this.checks == null) {
			this.checks = checks;
		}
	}

	/**
	 * Whether nobody else uses a connection of the target until it is closed, so that a
	 * transaction that is open then has ended.
	 * @return whether that is known
	 */
	boolean isPool() {
		return this.pool;
	}

	/**
	 * Whether the fence uses connections of this data source, so that runs are sure to
	 * have a row in its database.
	 * @return whether it has opened one
	 */
	boolean hasFence() {
		return this.hasFence;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		if (method.getDeclaringClass() == Resource.class) {
			return this.target;
		}
		if (asksForTheProxy(invocation)) {
			return method.getName().equals("unwrap") ? ((ProxyMethodInvocation) invocation).getProxy() : true;
		}
		Checks current = this.checks;
		if (!Connection.class.isAssignableFrom(method.getReturnType())) {
			if (current != null && Intercepted.opensConnection(method) && CurrentJobRun.find().isPresent()) {
				throw Refusals.ofWayToAConnection(method);
			}
			return invocation.proceed();
		}
		if (current == null || OPENING_FOR_THE_FENCE.get() != null) {
			this.hasFence = current != null && !(this.target instanceof AbstractRoutingDataSource);
			return opened(invocation);
		}
		if (current.refusesCommonPool()) {
			Refusals.refuseCommonPool();
		}
		Object connection = opened(invocation);
		return (connection instanceof Connection opened) ? guard(opened, current) : connection;
	}

	private static boolean asksForTheProxy(MethodInvocation invocation) {
		Object[] args = invocation.getArguments();
		return args.length == 1 && args[0] == Resource.class;
	}

	private @Nullable Object opened(MethodInvocation invocation) throws Throwable {
		Object connection = invocation.proceed();
		if (!this.mirrored) {
			mirrorFields(invocation);
		}
		return connection;
	}

	private Connection guard(Connection connection, Checks current) throws SQLException {
		try {
			return GuardedConnection.guard(connection, this, current);
		}
		catch (SQLException | RuntimeException ex) {
			try {
				connection.close();
			}
			catch (SQLException closing) {
				ex.addSuppressed(closing);
			}
			throw ex;
		}
	}

	// A class proxy has fields of its own, all null, and Boot reads one of HikariCP's for
	// its metrics. The pool sets it when it hands out its first connection.
	private void mirrorFields(MethodInvocation invocation) {
		Object proxy = (invocation instanceof ProxyMethodInvocation call) ? call.getProxy() : null;
		if (proxy != null && this.target.getClass().isInstance(proxy)
				&& !this.target.getClass().getModule().isNamed()) {
			ReflectionUtils.shallowCopyFieldState(this.target, proxy);
		}
		this.mirrored = true;
	}

	/**
	 * How the connections of a guarded database are checked.
	 *
	 * @param check checks commits
	 * @param sessions the sessions whose idle time is limited
	 * @param refusesCommonPool whether threads of the common pool get no connection
	 */
	record Checks(FenceCheck check, IdleTimeout.Sessions sessions, boolean refusesCommonPool) {
	}

	/**
	 * A proxy that Spring's transactions take for its target. Public, because classes of
	 * pools implement it.
	 */
	public interface Resource extends InfrastructureProxy, RawTargetAccess {

		@Override
		Object getWrappedObject();

	}

	/**
	 * The methods that hand out connections, or ask for the guard.
	 */
	private static final class Intercepted extends StaticMethodMatcherPointcutAdvisor {

		Intercepted(DataSourceGuard guard) {
			super(guard);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			String name = method.getName();
			return method.getDeclaringClass() == Resource.class || name.equals("unwrap") || name.equals("isWrapperFor")
					|| Connection.class.isAssignableFrom(method.getReturnType()) || opensConnection(method);
		}

		static boolean opensConnection(Method method) {
			Class<?> type = method.getReturnType();
			if (Future.class.isAssignableFrom(type)) {
				return Objects.equals(ResolvableType.forMethodReturnType(method).getGeneric(0).resolve(),
						Connection.class);
			}
			return PooledConnection.class.isAssignableFrom(type) || ConnectionBuilder.class.isAssignableFrom(type);
		}

	}

}
