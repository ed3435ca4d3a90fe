package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.StringJoiner;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * Says which sessions keep a raise waiting: those that have the lock of the job's fence,
 * or locks on its table.
 */
final class FenceBlockers {

	// A view of other roles' sessions shows their process ids only
	private static final String HOLDERS = """
			select distinct l.pid, coalesce(a.state, 'state not visible'), coalesce(a.application_name, ''), a.xact_start
			from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
			where l.granted and l.pid <> pg_catalog.pg_backend_pid() and (
				l.relation = ?::regclass and l.mode <> 'AccessShareLock'
				or l.locktype = 'advisory' and l.objsubid = 1
					and l.database = (select oid from pg_catalog.pg_database where datname = current_database())
					and (l.classid::bigint << 32 | l.objid::bigint) = ?)
			order by a.xact_start limit 5""";

	private final FenceTable table;

	FenceBlockers(FenceTable table) {
		this.table = table;
	}

	SQLException report(Connection connection, LeaseGrant grant, SQLException timeout) {
		String sessions = "no session that has it was found afterwards";
		try {
			sessions = sessions(connection, grant.job(), sessions);
			connection.rollback();
		}
		catch (SQLException ex) {
			timeout.addSuppressed(ex);
		}
		return new SQLException(
				"waited too long for the lock of the fence of " + grant.job() + "; " + sessions
						+ ". End a session that does not end by itself with pg_terminate_backend(pid)",
				timeout.getSQLState(), timeout);
	}

	private String sessions(Connection connection, JobId job, String none) throws SQLException {
		StringJoiner sessions = new StringJoiner(", ", "held by: ", "").setEmptyValue(none);
		try (PreparedStatement statement = connection.prepareStatement(HOLDERS)) {
			statement.setString(1, this.table.qualifiedName(connection));
			statement.setLong(2, FenceLock.key(job));
			try (ResultSet result = statement.executeQuery()) {
				while (result.next()) {
					sessions.add("pid " + result.getInt(1) + " (" + result.getString(2) + ", application '"
							+ result.getString(3) + "', transaction since " + result.getString(4) + ")");
				}
			}
		}
		return sessions.toString();
	}

}
