package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.singletonjob.fencing.StatementText.Command;
import org.jspecify.annotations.Nullable;

/**
 * A statement of a guarded connection.
 */
final class GuardedStatement extends GuardedObject {

	private final Statement statement;

	private final GuardedConnection connection;

	private final @Nullable String sql;

	private boolean sqlRead;

	private @Nullable Command sqlCommand;

	private @Nullable Command batchCommand;

	/**
	 * Guards a statement.
	 * @param statement the driver's statement
	 * @param connection the guarded connection
	 * @param sql the text that it was prepared with, or null
	 */
	GuardedStatement(Statement statement, GuardedConnection connection, @Nullable String sql) {
		super(statement);
		this.statement = statement;
		this.connection = connection;
		this.sql = sql;
	}

	static Class<? extends Statement> type(Statement statement) {
		if (statement instanceof CallableStatement) {
			return CallableStatement.class;
		}
		return (statement instanceof PreparedStatement) ? PreparedStatement.class : Statement.class;
	}

	@Override
	GuardedConnection connection() {
		return this.connection;
	}

	@Override
	@Nullable Object statementOf(Object proxy) {
		return proxy;
	}

	@Override
	@Nullable Object intercept(Object proxy, Method method, @Nullable Object[] args) throws Throwable {
		switch (method.getName()) {
			case "execute", "executeQuery", "executeUpdate", "executeLargeUpdate" -> {
				return guarded(proxy, this.connection.execute(this, command(args), method, args));
			}
			case "executeBatch", "executeLargeBatch" -> {
				Command command = (this.batchCommand != null) ? this.batchCommand : command(args);
				return guarded(proxy, this.connection.execute(this, command, method, args));
			}
			case "setArray", "setObject" -> args[1] = unguarded(args[1]);
			case "addBatch" -> addedToBatch(args);
			case "clearBatch" -> this.batchCommand = null;
			case "getConnection" -> {
				return this.connection.proxy();
			}
			case "unwrap" -> {
				return this.connection.unwrap(proxy, this.statement, (Class<?>) args[0]);
			}
			case "isWrapperFor" -> {
				return this.connection.isWrapperFor(proxy, this.statement, (Class<?>) args[0]);
			}
			default -> {
			}
		}
		return guarded(proxy, call(method, args));
	}

	private void addedToBatch(@Nullable Object[] args) throws SQLException {
		if (args.length == 1 && args[0] instanceof String text && this.batchCommand == null) {
			this.batchCommand = this.connection.command(text);
		}
	}

	// Texts matter inside a run only
	private @Nullable Command command(@Nullable Object[] args) throws SQLException {
		if (!this.connection.transaction().collectLeased()) {
			return null;
		}
		if (args.length > 0 && args[0] instanceof String text) {
			return this.connection.command(text);
		}
		if (!this.sqlRead && this.sql != null) {
			this.sqlCommand = this.connection.command(this.sql);
			this.sqlRead = true;
		}
		return this.sqlCommand;
	}

}
