package io.github.singletonjob.fencing;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import io.github.singletonjob.lease.Fence.Refused;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * A raise as one upsert.
 */
final class PostgresRaise implements FenceRaise {

	private final FenceStatements statements;

	PostgresRaise(FenceStatements statements) {
		this.statements = statements;
	}

	@Override
	public @Nullable Refused raise(LeaseGrant grant, String holder) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.RAISE)) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setLong(3, grant.token());
			statement.setString(4, grant.owner());
			statement.setString(5, holder);
			try (ResultSet result = statement.executeQuery()) {
				return result.next() ? null : seen(grant.job());
			}
		}
	}

	private Refused seen(JobId job) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.SEEN)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			try (ResultSet result = statement.executeQuery()) {
				if (result.next()) {
					return new Refused(result.getLong(1));
				}
			}
		}
		// Deleted between the two statements: as good as a serialization failure
		throw new SQLException("The fence row of " + job + " disappeared", "40001");
	}

}
