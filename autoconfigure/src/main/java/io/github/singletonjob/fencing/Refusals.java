package io.github.singletonjob.fencing;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.fencing.StatementText.Command;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * What is refused inside a run, because it would write past the fence, and what to do
 * instead.
 */
final class Refusals {

	private static final String INVALID_TERMINATION = "2D000";

	// VACUUM and the like; COMMIT in a procedure
	private static final Set<String> NOT_IN_A_TRANSACTION = Set.of("25001", INVALID_TERMINATION);

	private Refusals() {
	}

	static void refuse(@Nullable Command command, boolean autoCommit) throws SQLException {
		if (command != null && !command.implicit() && (command.end() || autoCommit)) {
			throw new SQLException("The statement '" + command.text() + "' is refused inside a job's run, because a"
					+ " transaction that is begun or ended by a statement's text cannot be fenced. Use @Transactional, a"
					+ " TransactionTemplate, or setAutoCommit(false), commit() and rollback() of the connection",
					INVALID_TERMINATION);
		}
	}

	static void refuseImplicit(@Nullable Command command) throws SQLException {
		if (command != null && command.implicit()) {
			throw new SQLException("The statement '" + command.text() + "' is refused inside a job's run, because this"
					+ " database commits at it by itself, unfenced. Execute it outside of runs or, if a stale holder may"
					+ " execute it, outside of transactions in a job with 'autocommit: allow'", INVALID_TERMINATION);
		}
	}

	/**
	 * Adds what to configure to the failure of a statement that the guard has put into a
	 * transaction.
	 * @param failure the failure
	 * @param run the run
	 * @return what to throw
	 */
	static SQLException explain(SQLException failure, LeasedRun run) {
		if (!NOT_IN_A_TRANSACTION.contains(String.valueOf(failure.getSQLState()))) {
			return failure;
		}
		return new SQLException(failure.getMessage() + " (inside a run of the job '" + run.job()
				+ "' each statement outside of a transaction is made one, so that it can be fenced. If it must not be,"
				+ " and a stale holder may execute it, configure 'singleton-job.jobs." + run.job()
				+ ".autocommit: allow')", failure.getSQLState(), failure.getErrorCode(), failure);
	}

	/**
	 * Refuses to hand out a driver's object that could write past the fence.
	 * @param target what would be unwrapped
	 * @param type what it would be unwrapped to
	 * @param autoCommit whether there is no transaction
	 * @return why not, or null if it can be handed out
	 */
	static @Nullable String ofUnwrap(Wrapper target, Class<?> type, boolean autoCommit) {
		if (!type.isInterface() || Connection.class.isAssignableFrom(type) || Statement.class.isAssignableFrom(type)) {
			return "unwrap(" + type.getName() + ".class) is refused inside a job's run, because commits on that object"
					+ " could not be fenced. Unwrap an interface of the driver that is no connection or statement, such as"
					+ " org.postgresql.PGConnection, or unwrap before the run begins";
		}
		if (autoCommit && target instanceof Connection) {
			return "unwrap(" + type.getName() + ".class) is refused inside a job's run while no transaction is open,"
					+ " because what is written through that object (such as COPY) would commit itself, unfenced. Begin a"
					+ " transaction first: @Transactional, or setAutoCommit(false) and commit()";
		}
		return null;
	}

	/**
	 * Refuses a connection to a thread of the common pool that no run is bound to.
	 * @throws SQLException if the calling thread is such a one
	 */
	static void refuseCommonPool() throws SQLException {
		if (Thread.currentThread() instanceof ForkJoinWorkerThread worker
				&& worker.getPool() == ForkJoinPool.commonPool() && CurrentJobRun.find().isEmpty()) {
			throw new SQLException("The thread '" + worker.getName() + "' of the common pool carries no run, so what it"
					+ " writes for a job could not be fenced (singleton-job.fencing.common-pool: refuse). Use an executor"
					+ " that propagates the context, or open the run there with CurrentJobRun.open(run)", "0A000");
		}
	}

	static SQLException ofDriverCall(String name) {
		return new SQLException(
				name + "() of the driver's object is refused inside a job's run while no transaction is"
						+ " open, because what it writes would commit itself, unfenced. Begin a transaction first",
				"0A000");
	}

	/**
	 * Refuses to hand out a driver's object that could not be guarded as long as it is
	 * kept.
	 * @param method what would hand it out
	 * @param type its class
	 * @param reason why no proxy can stand for it, or null if a method is final
	 * @return the refusal
	 */
	static SQLException ofDriverObject(Method method, Class<?> type, @Nullable Exception reason) {
		return new SQLException(method.getName()
				+ "() of the driver's object is refused inside a job's run, because its" + " answer, a "
				+ type.getName() + ", cannot be guarded (the class or a method is final), and what is"
				+ " written through it after the transaction would be unfenced. Write through JDBC, or on a data source"
				+ " that is not guarded if a stale holder may write it", "0A000", reason);
	}

	/**
	 * Explains a commit that failed in a database without the fence of the run.
	 * @param run the run
	 * @param failure why it failed
	 * @return what to throw
	 */
	static SQLException ofOtherDatabase(LeasedRun run, SQLException failure) {
		return new SQLException(run.job()
				+ ": a transaction was rolled back, nothing of it was written, because it was on"
				+ " another database than the fence of the run, which alone a run can write to. Route the run to the"
				+ " database of the fence, or write to the other one through a DataSource of its own, which is not fenced",
				"0A000", failure);
	}

	static SQLException ofWayToAConnection(Method method) {
		return new SQLException(method.getName() + "() of the guarded DataSource is refused inside a job's run, because"
				+ " commits on its connections could not be fenced. Use getConnection()", "0A000");
	}

}
