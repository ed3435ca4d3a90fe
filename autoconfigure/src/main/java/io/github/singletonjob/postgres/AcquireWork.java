package io.github.singletonjob.postgres;

import java.sql.SQLException;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.postgres.LeaseConnection.AcquireAnswer;

/**
 * Asks for one lease. Whatever goes wrong, the advisory lock of the job does not stay
 * behind: it is the job's own key that is freed, so that the other leases on the session
 * are not touched.
 *
 * @param claim what is asked for
 * @param session the session that is to hold it
 * @param claims where the claim is entered
 */
record AcquireWork(Claim claim, LeaseSession session, Claims claims) implements SessionCall.Work<Acquisition> {

	@Override
	public Acquisition perform(LeaseConnection connection) throws SQLException {
		AcquireAnswer answer = ask(connection);
		if (!answer.locked()) {
			return new Acquisition.Held(answer.holder());
		}
		Long token = answer.token();
		if (token == null) {
			connection.free(this.claim.lockKey());
			throw new SQLException("The table " + LeaseSql.TABLE + " took no row: drop the trigger or rule on it");
		}
		return new Acquisition.Acquired(this.claim.granted(this.session, token));
	}

	private AcquireAnswer ask(LeaseConnection connection) throws SQLException {
		try {
			return connection.acquire(this.claim);
		}
		catch (SQLException ex) {
			if (!connection.isBroken(ex)) {
				connection.free(this.claim.lockKey());
			}
			throw ex;
		}
	}

	@Override
	public void undo(LeaseConnection connection) throws SQLException {
		if (this.claim.grant() != null) {
			new ReleaseWork(this.claim, this.claims).perform(connection);
		}
		this.claims.drop(this.claim);
	}

	@Override
	public void forget() {
		this.claims.drop(this.claim);
	}

}
