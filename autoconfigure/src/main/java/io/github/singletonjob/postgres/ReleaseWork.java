package io.github.singletonjob.postgres;

import java.sql.SQLException;

import io.github.singletonjob.postgres.LeaseConnection.ReleaseAnswer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gives one lease back. If the row cannot be marked as released, the advisory lock is
 * freed all the same.
 *
 * @param claim the claim that holds the lease
 * @param claims where the claim is entered
 */
record ReleaseWork(Claim claim, Claims claims) implements SessionCall.Work<Boolean> {

	private static final Log logger = LogFactory.getLog(ReleaseWork.class);

	@Override
	public Boolean perform(LeaseConnection connection) throws SQLException {
		PostgresGrant grant = this.claim.grant();
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

	private ReleaseAnswer release(LeaseConnection connection, PostgresGrant grant) throws SQLException {
		try {
			return connection.release(this.claim, grant);
		}
		catch (SQLException ex) {
			if (connection.isBroken(ex)) {
				throw ex;
			}
			logger.warn(grant.job().name() + ": the lease with token " + grant.token() + " is given back, but could"
					+ " not be marked as released: " + SqlFailure.explain(ex));
			return new ReleaseAnswer(true, connection.free(this.claim.lockKey()));
		}
	}

}
