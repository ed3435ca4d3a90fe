package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * The fence as a row of the guarded database.
 * <p>
 * On Postgres a raise is one upsert, in a transaction of its own on an unguarded
 * connection, under an advisory lock of the job. It takes that lock exclusively, and
 * every fenced transaction holds it in share mode from its check until it has committed.
 * So the raise waits for those that have been checked already, and those that are checked
 * later see the new token and are aborted. The row keeps the owner too: repeating a raise
 * succeeds, while an equal token of another owner is refused. Elsewhere it locks that
 * row, compares, and writes.
 * <p>
 * A raise for a fire time decides about it in the same transaction, under the same lock,
 * by what the table {@code singleton_job_fire_time} knows: a fire time that was completed
 * is not repeated and one that is open is finished first, also when the store has
 * forgotten them.
 * <p>
 * A raise that has to wait too long is repeated until its time-out; then, on Postgres,
 * the message names the sessions that have the lock, or locks on the table.
 */
public final class JdbcFence implements Fence {

	private static final int TRIES = 3;

	private final FenceTransactions transactions;

	private final FenceTable table;

	/**
	 * Creates the fence. Nothing is asked yet.
	 * @param dataSource the guarded data source, or the one that it guards
	 */
	public JdbcFence(DataSource dataSource) {
		this.table = FencedDataSources.table(dataSource);
		this.transactions = new FenceTransactions(FencedDataSources.unguarded(dataSource), this.table);
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The time-out bounds the waiting inside the database; a reply that does not come a
	 * second later ends the connection. The waiting for a connection before is bounded by
	 * the pool.
	 */
	@Override
	public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
		Attempt attempt = new Attempt(grant, holder, System.nanoTime(), timeout);
		try {
			return this.transactions.perform(timeout, (connection) -> raise(connection, attempt));
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(
					grant.job().name() + ": the fence could not be raised to token " + grant.token() + " ("
							+ ex.getMessage() + "); the run is not started. Look at the guarded database",
					ex);
		}
	}

	@Override
	public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
		try {
			return this.transactions.perform(timeout, (connection) -> {
				FenceStatements statements = this.transactions.begin(connection, grant.job(), FenceSql.SHARED,
						timeout.toMillis(), timeout);
				boolean ours = FenceFireTimes.of(statements).complete(grant, fireTime);
				connection.commit();
				return ours ? Completion.RECORDED : Completion.REFUSED;
			});
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(grant.job().name() + ": that " + fireTime.instant()
					+ " has run could not be recorded in the guarded database (" + ex.getMessage() + ")", ex);
		}
	}

	@Override
	public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
		try {
			return this.transactions.perform(timeout, (connection) -> {
				FenceStatements statements = new FenceStatements(connection, this.table, 0);
				Map<String, FireTimes> known = FenceFireTimes.of(statements).all(job);
				connection.commit();
				return known;
			});
		}
		catch (SQLException ex) {
			throw new LeaseStoreException(
					job.name() + ": the guarded database did not tell its fire times (" + ex.getMessage() + ")", ex);
		}
	}

	private FenceAnswer raise(Connection connection, Attempt attempt) throws SQLException {
		while (true) {
			try {
				return tryRaise(connection, attempt);
			}
			catch (SQLException ex) {
				FenceTransactions.rollback(connection, ex);
				FenceDialect dialect = this.table.dialect(connection);
				if (!dialect.isWorthAnotherTry(ex)) {
					throw ex;
				}
				if (attempt.millisLeft() < FenceTransactions.SHORTEST_WAIT) {
					throw dialect.isPortable() ? ex
							: new FenceBlockers(this.table).report(connection, attempt.grant(), ex);
				}
			}
		}
	}

	private FenceAnswer tryRaise(Connection connection, Attempt attempt) throws SQLException {
		long millis = Math.min(attempt.millisLeft(), attempt.timeout().toMillis() / TRIES);
		FenceStatements statements = this.transactions.begin(connection, attempt.grant().job(), FenceSql.EXCLUSIVE,
				millis, attempt.timeout());
		GrantedFireTime fireTime = attempt.grant().fireTime();
		FenceAnswer answer = (fireTime != null) ? raise(statements, attempt, fireTime) : raise(statements, attempt);
		connection.commit();
		return answer;
	}

	private static FenceAnswer raise(FenceStatements statements, Attempt attempt) throws SQLException {
		Refused refused = FenceRaise.of(statements).raise(attempt.grant(), attempt.holder());
		return (refused != null) ? refused : new Raised(null);
	}

	private static FenceAnswer raise(FenceStatements statements, Attempt attempt, GrantedFireTime fireTime)
			throws SQLException {
		FenceFireTimes fireTimes = FenceFireTimes.of(statements);
		Early early = fireTimes.early(fireTime);
		if (early != null) {
			return early;
		}
		Refused refused = FenceRaise.of(statements).raise(attempt.grant(), attempt.holder());
		return (refused != null) ? refused : fireTimes.begin(attempt.grant(), fireTime);
	}

	/**
	 * One call of {@link #raise(LeaseGrant, String, Duration)}.
	 */
	private record Attempt(LeaseGrant grant, String holder, long start, Duration timeout) {

		long millisLeft() {
			return this.timeout.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - this.start);
		}

	}

}
