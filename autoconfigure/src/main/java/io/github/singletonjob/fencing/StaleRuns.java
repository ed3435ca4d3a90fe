package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;

import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * Finds out, after a transaction was aborted, whether the fence was the reason. The error
 * code alone does not tell: a division by zero can come from a trigger that was deferred
 * to the commit, and a serialization failure from any other row. So the fence is read
 * again.
 */
final class StaleRuns {

	// The last three: the check waited for the raise of a newer holder until it was ended
	private static final Set<String> MAY_BE_THE_FENCE = Set.of(FenceCheck.DIVISION_BY_ZERO, "40001", "40P01", "55P03",
			"57014");

	private static final String ROW = "select token, owner, holder, raised_at from %s where namespace = ? and name = ?";

	private final FenceTable table;

	StaleRuns(FenceTable table) {
		this.table = table;
	}

	/**
	 * Looks for runs that the fence refuses, and tells each.
	 * @param connection a connection without a transaction, left without one
	 * @param runs the runs of the transaction
	 * @param failure why the commit failed
	 * @return what to throw instead of the failure, or null if the fence was not the
	 * reason
	 */
	@Nullable StaleTokenException find(Connection connection, List<LeasedRun> runs, SQLException failure) {
		StaleTokenException first = null;
		try {
			if (!mayBeTheFence(connection, failure)) {
				return null;
			}
			for (LeasedRun run : runs) {
				StaleTokenException refusal = refusal(connection, run.grant());
				if (refusal != null) {
					refusal.initCause(failure);
					first = (first != null) ? first : refusal;
					run.refused(refusal);
				}
			}
			connection.rollback();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
		return first;
	}

	// With the portable check there are too many ways to say that a row is locked or
	// changed
	private boolean mayBeTheFence(Connection connection, SQLException failure) throws SQLException {
		return MAY_BE_THE_FENCE.contains(String.valueOf(failure.getSQLState()))
				|| this.table.dialect(connection).isPortable();
	}

	private @Nullable StaleTokenException refusal(Connection connection, LeaseGrant grant) throws SQLException {
		String name = this.table.qualifiedName(connection);
		try (PreparedStatement statement = connection.prepareStatement(ROW.formatted(name))) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			try (ResultSet row = statement.executeQuery()) {
				String reason = row.next() ? reason(row, grant)
						: "its row in " + name + " is missing (deleted or truncated)";
				return (reason != null) ? refusal(grant, reason) : null;
			}
		}
	}

	private static @Nullable String reason(ResultSet row, LeaseGrant grant) throws SQLException {
		long token = row.getLong("token");
		if (token == grant.token() && grant.owner().equals(row.getString("owner"))) {
			return null;
		}
		OffsetDateTime since = row.getObject("raised_at", OffsetDateTime.class);
		String what = (token != grant.token()) ? "token " + token : "that token by another grant,";
		return "holder " + row.getString("holder") + " has " + what
				+ ((since != null) ? " since " + since.toInstant() : "");
	}

	private static StaleTokenException refusal(LeaseGrant grant, String reason) {
		return new StaleTokenException(grant.job().name(), grant.token(),
				grant.job().name() + ": the database refused token " + grant.token() + ": " + reason
						+ "; the transaction was rolled back, nothing of it was written");
	}

}
