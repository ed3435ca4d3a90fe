package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.ReflectionUtils;

/**
 * Guards the connections that a data source hands out.
 */
final class ConnectionInterceptor implements MethodInterceptor {

	private final FenceCheck check;

	private final IdleTimeout.Sessions sessions;

	private final boolean refusesCommonPool;

	private volatile boolean mirrored;

	ConnectionInterceptor(FenceCheck check, IdleTimeout.Sessions sessions, boolean refusesCommonPool) {
		this.check = check;
		this.sessions = sessions;
		this.refusesCommonPool = refusesCommonPool;
	}

	FenceTable table() {
		return this.check.table();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (this.refusesCommonPool) {
			Refusals.refuseCommonPool();
		}
		Object connection = invocation.proceed();
		if (!this.mirrored) {
			mirrorFields(invocation);
		}
		return (connection instanceof Connection opened) ? guard(opened) : connection;
	}

	private Connection guard(Connection connection) throws SQLException {
		try {
			return GuardedConnection.guard(connection, this.check, this.sessions);
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
		Object target = invocation.getThis();
		Object proxy = (invocation instanceof ProxyMethodInvocation call) ? call.getProxy() : null;
		if (target != null && proxy != null && target.getClass().isInstance(proxy)
				&& !target.getClass().getModule().isNamed()) {
			ReflectionUtils.shallowCopyFieldState(target, proxy);
		}
		this.mirrored = true;
	}

}
