package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * Finds out, after a transaction was aborted, whether the fence was the reason. The error
 * alone does not tell: a serialization failure can come from any row, and a check also
 * fails if the transaction cannot see the fence. So the fence is read again.
 */
final class FailedCommit {

	private static final String SERIALIZATION_FAILURE = "40001";

	private static final String CONNECTION_FAILURE = "08";

	private static final String NO_RIGHT = "42501";

	// The last three: the check waited for the raise of a newer holder until it was ended
	private static final Set<String> MAY_BE_THE_FENCE = Set.of(SERIALIZATION_FAILURE, "40P01", "55P03", "57014");

	private static final String ROW = "select token, owner, holder, raised_at from %s where namespace = ? and name = ?";

	// By the catalog, because a role without USAGE on the schema cannot name the table
	private static final String RIGHTS = """
			select pg_catalog.quote_ident(r.role), pg_catalog.quote_ident(n.nspname),
				pg_catalog.has_schema_privilege(r.role, n.oid, 'usage'),
				pg_catalog.has_table_privilege(r.role, c.oid, 'select')
			from (select coalesce(?, current_user)::name as role) r,
				pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
			where pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) = ?""";

	private final FenceTable table;

	private final Connection connection;

	private final SQLException failure;

	/**
	 * Creates the search for a reason.
	 * @param table where the fence is
	 * @param connection a connection without a transaction, left without one
	 * @param failure why the commit failed
	 */
	FailedCommit(FenceTable table, Connection connection, SQLException failure) {
		this.table = table;
		this.connection = connection;
		this.failure = failure;
	}

	/**
	 * Looks for runs that the fence refuses, and tells each.
	 * @param runs the runs of the transaction
	 * @param hasFence whether the fence is sure to be in the database; elsewhere a row
	 * that is missing or behind says nothing about a run
	 * @return what to throw if the fence refuses none, with what to do about it if that
	 * is known
	 * @throws StaleTokenException if the fence refuses one
	 */
	SQLException explain(List<LeasedRun> runs, boolean hasFence) {
		StaleTokenException stale = null;
		SQLException explained = this.failure;
		try {
			LeasedRun elsewhere = hasFence ? null : findRaisedElsewhere(runs);
			if (elsewhere != null) {
				explained = Refusals.ofOtherDatabase(elsewhere, this.failure);
			}
			else if (mayBeTheFence()) {
				stale = refuse(runs);
			}
			if (stale == null && elsewhere == null) {
				explained = explainOther(runs);
			}
			this.connection.rollback();
		}
		catch (SQLException ex) {
			this.failure.addSuppressed(ex);
		}
		if (stale != null) {
			throw stale;
		}
		return explained;
	}

	private @Nullable LeasedRun findRaisedElsewhere(List<LeasedRun> runs) throws SQLException {
		if (String.valueOf(this.failure.getSQLState()).startsWith(CONNECTION_FAILURE)) {
			return null;
		}
		for (LeasedRun run : runs) {
			try (PreparedStatement statement = rowOf(run.grant()); ResultSet row = statement.executeQuery()) {
				if (!row.next() || row.getLong("token") < run.token()) {
					return run;
				}
			}
			catch (SQLException ex) {
				this.connection.rollback();
				this.failure.addSuppressed(ex);
				// Or there is no such table
				return NO_RIGHT.equals(ex.getSQLState()) ? null : run;
			}
		}
		return null;
	}

	// With the portable check there are too many ways to say that a row is locked or
	// changed
	private boolean mayBeTheFence() throws SQLException {
		return MAY_BE_THE_FENCE.contains(String.valueOf(this.failure.getSQLState())) || FenceCheck.isStale(this.failure)
				|| this.table.dialect(this.connection).isPortable();
	}

	private @Nullable StaleTokenException refuse(List<LeasedRun> runs) throws SQLException {
		StaleTokenException first = null;
		for (LeasedRun run : runs) {
			StaleTokenException refusal = refusal(run.grant());
			if (refusal != null) {
				refusal.initCause(this.failure);
				first = (first != null) ? first : refusal;
				run.refused(refusal);
			}
		}
		return first;
	}

	private @Nullable StaleTokenException refusal(LeaseGrant grant) throws SQLException {
		try (PreparedStatement statement = rowOf(grant); ResultSet row = statement.executeQuery()) {
			String reason = row.next() ? reason(row, grant)
					: "its row in " + this.table.qualifiedName(this.connection) + " is missing (deleted or truncated)";
			return (reason != null) ? refusal(grant, reason) : null;
		}
	}

	private PreparedStatement rowOf(LeaseGrant grant) throws SQLException {
		PreparedStatement statement = this.connection
			.prepareStatement(ROW.formatted(this.table.qualifiedName(this.connection)));
		statement.setString(1, grant.job().namespace());
		statement.setString(2, grant.job().name());
		return statement;
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

	private SQLException explainOther(List<LeasedRun> runs) throws SQLException {
		String job = runs.get(0).job();
		if (FenceCheck.isStale(this.failure)) {
			return new SQLException(job
					+ ": a transaction was begun before the run, at REPEATABLE READ or SERIALIZABLE:"
					+ " it does not see that the fence stands at token " + runs.get(0).token()
					+ ". It was rolled back, nothing of it was written. Begin the transaction inside the run. If it was,"
					+ " look for a row-level security policy that hides " + this.table.qualifiedName(this.connection)
					+ " from its role", SERIALIZATION_FAILURE, this.failure);
		}
		String role = FenceCheck.roleWithoutRights(this.failure);
		if (role != null || NO_RIGHT.equals(this.failure.getSQLState())) {
			return explainRights(job, role);
		}
		return this.failure;
	}

	// A role that was set for the transaction is in the message; any other is current
	// still
	private SQLException explainRights(String job, @Nullable String role) throws SQLException {
		String name = this.table.qualifiedName(this.connection);
		try (PreparedStatement statement = this.connection.prepareStatement(RIGHTS)) {
			statement.setString(1, role);
			statement.setString(2, name);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				String quoted = row.getString(1);
				StringJoiner grants = new StringJoiner("; ");
				if (!row.getBoolean(3)) {
					grants.add("GRANT USAGE ON SCHEMA " + row.getString(2) + " TO " + quoted);
				}
				if (!row.getBoolean(4)) {
					grants.add("GRANT SELECT ON " + name + " TO " + quoted);
				}
				return (grants.length() == 0) ? this.failure
						: new SQLException(job + ": the role " + quoted + ", as which a transaction works, may not read"
								+ " the fence " + name
								+ ". The token could not be compared, so the transaction was rolled"
								+ " back, nothing of it was written. " + grants, NO_RIGHT, this.failure);
			}
		}
	}

}
