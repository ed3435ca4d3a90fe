package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Instant;

import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.postgres.LeaseConnection.ReleaseAnswer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gives one lease back. If the row cannot be marked as released, the advisory lock is
 * freed all the same.
 *
 * @param claim the claim that holds the lease
 * @param claims where the claim is entered
 * @param completed the fire time that was completed, or null
 */
record ReleaseWork(Claim claim, Claims claims, @Nullable Instant completed) implements SessionCall.Work<Boolean> {

	private static final Log logger = LogFactory.getLog(ReleaseWork.class);

	@Override
	public Boolean perform(LeaseConnection connection) throws SQLException {
		LeaseGrant grant = this.claim.grant();
		if (grant == null || !this.claims.contains(this.claim)) {
			return false;
		}
		ReleaseAnswer answer = release(connection, grant);
		this.claims.drop(this.claim);
		if (!answer.unlocked()) {
			logger.warn(grant.job().name() + ": the session did not have the"
					+ " advisory lock of the lease any more when it was given back");
		}
		return answer.cleared() && answer.unlocked();
	}

	private ReleaseAnswer release(LeaseConnection connection, LeaseGrant grant) throws SQLException {
		try {
			return connection.release(this.claim, grant, this.completed);
		}
		catch (SQLException ex) {
			if (connection.isBroken(ex)) {
				throw ex;
			}
			logger.warn(grant.job().name() + ": the lease with token " + grant.token() + " is given back, but could"
					+ " not be marked as released: " + SqlFailure.explain(ex));
			boolean ours = completeAlone(connection, grant);
			return new ReleaseAnswer(ours, connection.free(this.claim.lockKey()));
		}
	}

	private boolean completeAlone(LeaseConnection connection, LeaseGrant grant) throws SQLException {
		if (this.completed == null) {
			return true;
		}
		try {
			return connection.complete(grant, this.completed);
		}
		catch (SQLException ex) {
			if (connection.isBroken(ex)) {
				throw ex;
			}
			logger.warn(grant.job().name() + ": that its fire time " + this.completed + " has run could not be"
					+ " recorded, so it may be run again: " + SqlFailure.explain(ex));
			return true;
		}
	}

}
