package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Instant;

import io.github.singletonjob.lease.LeaseGrant;

/**
 * Records what was completed, and keeps the lease.
 *
 * @param claim the claim that holds the lease
 * @param claims where the claim is entered
 * @param completed the fire time
 */
record CompleteWork(Claim claim, Claims claims, Instant completed) implements SessionCall.Work<Boolean> {

	@Override
	public Boolean perform(LeaseConnection connection) throws SQLException {
		LeaseGrant grant = this.claim.grant();
		return grant != null && this.claims.contains(this.claim) && connection.complete(grant, this.completed);
	}

}
