package io.github.singletonjob.postgres;

import java.sql.SQLException;

import io.github.singletonjob.lease.Acquisition;

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

	/** Being overtaken twice in a row takes more than another session's bad luck. */
	private static final int TRIES = 2;

	@Override
	public Acquisition perform(LeaseConnection connection) throws SQLException {
		for (int tries = 0; tries < TRIES; tries++) {
			AcquireAnswer answer = ask(connection);
			if (answer instanceof AcquireAnswer.NotTaken notTaken) {
				return notTaken.answer();
			}
			if (answer instanceof AcquireAnswer.Minted minted) {
				return new Acquisition.Acquired(this.claim.granted(this.session, minted));
			}
			connection.free(this.claim.lockKey());
		}
		throw new SQLException("The table " + LeaseSql.TABLE + " or " + LeaseSql.FIRE_TIME_TABLE
				+ " took no row: drop the trigger or rule on it");
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
			new ReleaseWork(this.claim, this.claims, null).perform(connection);
		}
		this.claims.drop(this.claim);
	}

	@Override
	public void forget() {
		this.claims.drop(this.claim);
	}

}
