package io.github.singletonjob.fencing;

import java.sql.SQLException;

import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * Raises the fence row of a job and keeps its lock until the transaction ends.
 */
@FunctionalInterface
interface FenceRaise {

	/**
	 * Raises the fence to a grant.
	 * @param grant the lease
	 * @param holder the instance, for people
	 * @return the refusal, or null if the fence stands at the grant now
	 */
	@Nullable Refused raise(LeaseGrant grant, String holder) throws SQLException;

	/**
	 * Creates the raise that a database has.
	 * @param statements the statements of a transaction
	 * @return the raise, without a commit
	 */
	static FenceRaise of(FenceStatements statements) throws SQLException {
		return statements.isPortable() ? new PortableRaise(statements) : new PostgresRaise(statements);
	}

}
