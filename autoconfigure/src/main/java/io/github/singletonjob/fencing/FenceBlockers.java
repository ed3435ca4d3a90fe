package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.StringJoiner;

import io.github.singletonjob.lease.LeaseGrant;

/**
 * Says which sessions keep a raise waiting: those that have locks on the fence table.
 */
final class FenceBlockers {

	// A view of other roles' sessions shows their process ids only
	private static final String HOLDERS = """
			select distinct l.pid, coalesce(a.state, 'state not visible'), coalesce(a.application_name, ''), a.xact_start
			from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
			where l.relation = ?::regclass and l.granted and l.pid <> pg_catalog.pg_backend_pid()
				and l.mode <> 'AccessShareLock'
			order by a.xact_start limit 5""";

	private final FenceTable table;

	FenceBlockers(FenceTable table) {
		this.table = table;
	}

	SQLException report(Connection connection, LeaseGrant grant, SQLException timeout) {
		String sessions = "no session that has locks on it was found afterwards";
		try {
			sessions = sessions(connection, sessions);
			connection.rollback();
		}
		catch (SQLException ex) {
			timeout.addSuppressed(ex);
		}
		return new SQLException(
				"waited too long for the fence row of " + grant.job() + "; " + sessions
						+ ". End a session that does not end by itself with pg_terminate_backend(pid)",
				timeout.getSQLState(), timeout);
	}

	private String sessions(Connection connection, String none) throws SQLException {
		StringJoiner sessions = new StringJoiner(", ", "sessions with locks on it: ", "").setEmptyValue(none);
		try (PreparedStatement statement = connection.prepareStatement(HOLDERS)) {
			statement.setString(1, this.table.qualifiedName(connection));
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
