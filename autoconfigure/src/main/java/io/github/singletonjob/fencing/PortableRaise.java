package io.github.singletonjob.fencing;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * A raise without an upsert: locks the row, which waits for the transactions that have
 * been checked, compares, and writes. Two that insert the same row at once get an error,
 * and the one that tries again finds it.
 */
final class PortableRaise implements FenceRaise {

	private static final String SELECT = "select token, owner from %s where namespace = ? and name = ? for update";

	private static final String UPDATE = "update %s set token = ?, owner = ?, holder = ?,"
			+ " raised_at = current_timestamp(3) where namespace = ? and name = ?";

	private static final String INSERT = "insert into %s (token, owner, holder, raised_at, namespace, name)"
			+ " values (?, ?, ?, current_timestamp(3), ?, ?)";

	private final FenceStatements statements;

	PortableRaise(FenceStatements statements) {
		this.statements = statements;
	}

	@Override
	public @Nullable Refused raise(LeaseGrant grant, String holder) throws SQLException {
		Row row = lock(grant.job());
		if (row != null && row.token() >= grant.token() && !row.isOf(grant)) {
			return new Refused(row.token());
		}
		write((row != null) ? UPDATE : INSERT, grant, holder);
		return null;
	}

	/**
	 * Whether the fence stands at a grant, and does so until the transaction ends.
	 * @param grant the lease
	 */
	boolean standsAt(LeaseGrant grant) throws SQLException {
		Row row = lock(grant.job());
		return row != null && row.isOf(grant);
	}

	private @Nullable Row lock(JobId job) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(SELECT)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? new Row(row.getLong(1), row.getString(2)) : null;
			}
		}
	}

	private void write(String sql, LeaseGrant grant, String holder) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(sql)) {
			statement.setLong(1, grant.token());
			statement.setString(2, grant.owner());
			statement.setString(3, holder);
			statement.setString(4, grant.job().namespace());
			statement.setString(5, grant.job().name());
			statement.executeUpdate();
		}
	}

	/**
	 * Where the fence stands.
	 */
	private record Row(long token, String owner) {

		boolean isOf(LeaseGrant grant) {
			return this.token == grant.token() && this.owner.equals(grant.owner());
		}

	}

}
