package io.github.singletonjob.fencing;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;

import io.github.singletonjob.lease.Fence.Early;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * Fire times without an upsert: read and written one after the other, under the exclusive
 * lock of the fence row, which the raise has taken and a completion takes by itself. They
 * are kept as milliseconds since 1970, which no time zone of a session changes.
 */
final class PortableFireTimes extends FenceFireTimes {

	private static final String SELECT = """
			select schedule, started, completed, token from %2$s where namespace = ? and name = ?""";

	private static final String SELECT_ONE = SELECT + " and schedule = ?";

	private static final String INSERT = """
			insert into %2$s (started, completed, token, namespace, name, schedule) values (?, ?, ?, ?, ?, ?)""";

	private static final String UPDATE = """
			update %2$s set started = ?, completed = ?, token = ?
			where namespace = ? and name = ? and schedule = ?""";

	private final FenceStatements statements;

	PortableFireTimes(FenceStatements statements) {
		super(ChronoUnit.MILLIS);
		this.statements = statements;
	}

	@Override
	@Nullable Early early(GrantedFireTime fireTime) throws SQLException {
		Instant now = now();
		return fireTime.instant().isAfter(now.plus(Firing.CLOCK_TOLERANCE)) ? new Early(now) : null;
	}

	private Instant now() throws SQLException {
		String sql = this.statements.table().dialect(this.statements.connection()).clock();
		try (PreparedStatement statement = this.statements.prepare(sql); ResultSet row = statement.executeQuery()) {
			row.next();
			return Instant.ofEpochSecond(row.getLong(1));
		}
	}

	@Override
	Known known(LeaseGrant grant, String schedule) throws SQLException {
		Row row = find(grant.job(), schedule);
		return (row != null) ? new Known(row.times(), Long.valueOf(grant.token()).equals(row.token()))
				: new Known(FireTimes.NONE, false);
	}

	private @Nullable Row find(JobId job, String schedule) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(SELECT_ONE)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			statement.setString(3, schedule);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? new Row(times(row), number(row, "token")) : null;
			}
		}
	}

	@Override
	void start(LeaseGrant grant, String schedule, FireTimes times) throws SQLException {
		write(grant.job(), schedule, (row) -> new Row(times, grant.token()));
	}

	@Override
	boolean complete(LeaseGrant grant, GrantedFireTime fireTime) throws SQLException {
		boolean ours = new PortableRaise(this.statements).standsAt(grant);
		if (ours) {
			Instant completed = stored(fireTime.instant());
			write(grant.job(), fireTime.schedule(), (row) -> new Row(row.times().complete(completed), row.token()));
		}
		return ours;
	}

	private void write(JobId job, String schedule, Change change) throws SQLException {
		Row found = find(job, schedule);
		Row row = change.apply((found != null) ? found : new Row(FireTimes.NONE, null));
		try (PreparedStatement statement = this.statements.prepare((found != null) ? UPDATE : INSERT)) {
			set(statement, 1, millis(row.times().started()));
			set(statement, 2, millis(row.times().completed()));
			set(statement, 3, row.token());
			statement.setString(4, job.namespace());
			statement.setString(5, job.name());
			statement.setString(6, schedule);
			statement.executeUpdate();
		}
	}

	@Override
	Map<String, FireTimes> all(JobId job) throws SQLException {
		Map<String, FireTimes> known = new HashMap<>();
		try (PreparedStatement statement = this.statements.prepare(SELECT)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					known.put(row.getString("schedule"), times(row));
				}
			}
		}
		return known;
	}

	private @Nullable Long millis(@Nullable Instant instant) {
		return (instant != null) ? Long.valueOf(stored(instant).toEpochMilli()) : null;
	}

	private static void set(PreparedStatement statement, int index, @Nullable Long number) throws SQLException {
		statement.setObject(index, number, Types.BIGINT);
	}

	private static FireTimes times(ResultSet row) throws SQLException {
		return new FireTimes(instant(row, "started"), instant(row, "completed"));
	}

	private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		Long millis = number(row, column);
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	private static @Nullable Long number(ResultSet row, String column) throws SQLException {
		long number = row.getLong(column);
		return row.wasNull() ? null : Long.valueOf(number);
	}

	/**
	 * A row of the table.
	 *
	 * @param times the fire times
	 * @param token that of the run that was begun last, or null
	 */
	private record Row(FireTimes times, @Nullable Long token) {

	}

	/**
	 * What becomes of a row.
	 */
	@FunctionalInterface
	private interface Change {

		Row apply(Row row);

	}

}
