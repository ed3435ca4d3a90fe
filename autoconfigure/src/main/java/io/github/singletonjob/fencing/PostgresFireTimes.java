package io.github.singletonjob.fencing;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
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
 * Fire times in Postgres: written by upserts, completed under the shared lock of the
 * fence.
 */
final class PostgresFireTimes extends FenceFireTimes {

	private final FenceStatements statements;

	PostgresFireTimes(FenceStatements statements) {
		super(ChronoUnit.MICROS);
		this.statements = statements;
	}

	@Override
	@Nullable Early early(GrantedFireTime fireTime) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.EARLY)) {
			set(statement, 1, fireTime.instant());
			statement.setString(2, Firing.CLOCK_TOLERANCE.toString());
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? new Early(row.getObject(1, OffsetDateTime.class).toInstant()) : null;
			}
		}
	}

	@Override
	Known known(LeaseGrant grant, String schedule) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.FIRE_TIME)) {
			statement.setLong(1, grant.token());
			statement.setString(2, grant.job().namespace());
			statement.setString(3, grant.job().name());
			statement.setString(4, schedule);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? new Known(times(row), row.getBoolean("repeated"))
						: new Known(FireTimes.NONE, false);
			}
		}
	}

	@Override
	void start(LeaseGrant grant, String schedule, FireTimes times) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.START)) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setString(3, schedule);
			set(statement, 4, times.started());
			set(statement, 5, times.completed());
			statement.setLong(6, grant.token());
			statement.executeUpdate();
		}
	}

	@Override
	boolean complete(LeaseGrant grant, GrantedFireTime fireTime) throws SQLException {
		try (PreparedStatement statement = this.statements.prepare(FenceSql.COMPLETE)) {
			statement.setString(1, fireTime.schedule());
			set(statement, 2, fireTime.instant());
			statement.setString(3, grant.job().namespace());
			statement.setString(4, grant.job().name());
			statement.setLong(5, grant.token());
			statement.setString(6, grant.owner());
			return statement.executeUpdate() == 1;
		}
	}

	@Override
	Map<String, FireTimes> all(JobId job) throws SQLException {
		Map<String, FireTimes> known = new HashMap<>();
		try (PreparedStatement statement = this.statements.prepare(FenceSql.FIRE_TIMES)) {
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

	private void set(PreparedStatement statement, int index, @Nullable Instant instant) throws SQLException {
		statement.setObject(index, (instant != null) ? stored(instant).atOffset(ZoneOffset.UTC) : null,
				Types.TIMESTAMP_WITH_TIMEZONE);
	}

	private static FireTimes times(ResultSet row) throws SQLException {
		return new FireTimes(get(row, "started"), get(row, "completed"));
	}

	private static @Nullable Instant get(ResultSet row, String column) throws SQLException {
		@Nullable OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
		return (value != null) ? value.toInstant() : null;
	}

}
