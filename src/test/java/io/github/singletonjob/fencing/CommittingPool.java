package io.github.singletonjob.fencing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * A pool of one session that commits what is open when a connection is closed, as some
 * do.
 */
class CommittingPool extends AbstractDataSource {

	private final Connection session;

	private final boolean rollsBack;

	private Runnable afterCommit = () -> {
	};

	CommittingPool(DataSource source, boolean rollsBack) throws SQLException {
		this.session = source.getConnection();
		this.rollsBack = rollsBack;
	}

	Connection session() {
		return this.session;
	}

	/** What happens once, before the next commit answers. */
	void afterCommit(Runnable afterCommit) {
		this.afterCommit = afterCommit;
	}

	@Override
	public Connection getConnection() {
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, args) -> call(method, args));
	}

	@Override
	public Connection getConnection(String username, String password) {
		return getConnection();
	}

	private Object call(Method method, Object[] args) throws Throwable {
		if (method.getName().equals("rollback") && !this.rollsBack) {
			throw new SQLException("no rollback today");
		}
		if (method.getName().equals("close")) {
			if (!this.session.isClosed()) {
				this.session.commit();
			}
			return null;
		}
		try {
			Object answer = method.invoke(this.session, args);
			if (method.getName().equals("commit")) {
				Runnable once = this.afterCommit;
				this.afterCommit = () -> {
				};
				once.run();
			}
			return answer;
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
