package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.postgres.LeaseConnection.RowGrant;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Renews the leases of a session. Being heard by the server is the renewal; that the rows
 * are looked at lets an operator take a job away by clearing its row.
 *
 * @param asked the claims that hold the leases
 * @param claims where they are entered
 */
record RenewWork(List<Claim> asked, Claims claims) implements SessionCall.Work<Map<Claim, Renewal>> {

	private static final Log logger = LogFactory.getLog(RenewWork.class);

	@Override
	public Map<Claim, Renewal> perform(LeaseConnection connection) throws SQLException {
		Map<Long, RowGrant> rows = connection.rows(this.asked);
		Map<Claim, Renewal> answers = new HashMap<>();
		for (Claim claim : this.asked) {
			boolean held = this.claims.contains(claim) && isRowOf(claim, rows.get(claim.lockKey()));
			answers.put(claim, held ? Renewal.EXTENDED : Renewal.GONE);
			if (!held) {
				giveUp(claim, connection);
			}
		}
		return answers;
	}

	private static boolean isRowOf(Claim claim, @Nullable RowGrant row) {
		LeaseGrant grant = claim.grant();
		return grant != null && row != null && grant.token() == row.token() && grant.owner().equals(row.owner());
	}

	private void giveUp(Claim claim, LeaseConnection connection) throws SQLException {
		if (this.claims.contains(claim)) {
			logger.warn(claim.job().name() + ": somebody has cleared or changed its row in " + LeaseSql.TABLE
					+ "; the lease is given up");
			connection.free(claim.lockKey());
			this.claims.drop(claim);
		}
	}

}
