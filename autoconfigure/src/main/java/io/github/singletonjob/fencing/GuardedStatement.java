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

	// The text that was read last, and the command in it
	private @Nullable String readText;

	private @Nullable Command command;

	private boolean batchOfTexts;

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
				return guarded(proxy, this.connection.execute(this, method, args));
			}
			case "executeBatch", "executeLargeBatch" -> {
				Object counts = this.connection.execute(this, method, args);
				clearBatch();
				return counts;
			}
			case "setArray", "setObject" -> args[1] = unguarded(args[1]);
			case "addBatch" -> addedToBatch(args);
			case "clearBatch" -> clearBatch();
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
		if (args.length == 1 && args[0] instanceof String text) {
			this.batchOfTexts = true;
			if (this.batchCommand == null) {
				this.batchCommand = this.connection.command(text);
			}
		}
	}

	private void clearBatch() {
		this.batchCommand = null;
		this.batchOfTexts = false;
	}

	@Override
	@Nullable Command command(Method method, @Nullable Object[] args) throws SQLException {
		if (this.batchCommand != null && isBatch(method)) {
			return this.batchCommand;
		}
		String text = text(args);
		if (text == null) {
			return null;
		}
		// What a backslash means can change
		if (!text.equals(this.readText) || text.indexOf('\\') >= 0) {
			this.command = this.connection.command(text);
			this.readText = text;
		}
		return this.command;
	}

	@Override
	boolean mayRollBackToSavepoint(Method method, @Nullable Object[] args) {
		String text = text(args);
		return (this.batchOfTexts && isBatch(method)) || (text != null && StatementText.mayRollBack(text));
	}

	private static boolean isBatch(Method method) {
		return method.getName().endsWith("Batch");
	}

	private @Nullable String text(@Nullable Object[] args) {
		return (args.length > 0 && args[0] instanceof String text) ? text : this.sql;
	}

}
