package io.github.singletonjob.fencing;

import java.sql.Connection;
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
import java.util.Optional;

import io.github.singletonjob.lease.Fence.AlreadyRan;
import io.github.singletonjob.lease.Fence.Early;
import io.github.singletonjob.lease.Fence.FenceAnswer;
import io.github.singletonjob.lease.Fence.Raised;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * The fire times that the guarded database knows. A run is decided upon and recorded
 * under the exclusive lock of the fence row, and completed under a shared one, so that
 * both are in the order of the tokens.
 */
final class FenceFireTimes {

	private final Connection connection;

	private final FenceTable table;

	/**
	 * Creates their view on one connection.
	 * @param connection a connection in a transaction
	 * @param table where the fence is
	 */
	FenceFireTimes(Connection connection, FenceTable table) {
		this.connection = connection;
		this.table = table;
	}

	/**
	 * Whether a fire time is too far ahead of the database's clock. Asked before the
	 * raise, so that one which is leaves nothing behind.
	 * @param fireTime the fire time
	 * @return the answer if it is, or null
	 */
	@Nullable Early early(GrantedFireTime fireTime) throws SQLException {
		try (PreparedStatement statement = prepare(FenceSql.EARLY)) {
			set(statement, 1, fireTime.instant());
			statement.setString(2, Firing.CLOCK_TOLERANCE.toString());
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? new Early(row.getObject(1, OffsetDateTime.class).toInstant()) : null;
			}
		}
	}

	/**
	 * Decides which fire time the run stands for, after the fence was raised, and records
	 * it.
	 * @param grant the lease
	 * @param granted the fire time as the store has granted it
	 */
	FenceAnswer begin(LeaseGrant grant, GrantedFireTime granted) throws SQLException {
		Known known = known(grant, granted);
		Instant due = stored(granted.instant());
		Optional<Instant> open = known.times().open();
		if (known.repeated() && open.isPresent()) {
			return raised(granted, open.get(), !open.get().equals(due), known.times());
		}
		Firing firing = new Firing(granted.schedule(), due, granted.firing().finishesOpen());
		Optional<GrantedFireTime> decided = known.times().decide(firing);
		if (decided.isEmpty()) {
			return new AlreadyRan(known.times().completed());
		}
		start(grant, granted.schedule(), known.times().start(decided.get().instant()));
		return raised(granted, decided.get().instant(), decided.get().takeover(), known.times());
	}

	private Known known(LeaseGrant grant, GrantedFireTime granted) throws SQLException {
		try (PreparedStatement statement = prepare(FenceSql.FIRE_TIME)) {
			statement.setLong(1, grant.token());
			statement.setString(2, grant.job().namespace());
			statement.setString(3, grant.job().name());
			statement.setString(4, granted.schedule());
			try (ResultSet row = statement.executeQuery()) {
				boolean found = row.next();
				FireTimes here = found ? new FireTimes(get(row, "started"), get(row, "completed")) : FireTimes.NONE;
				Instant completed = granted.completedBefore();
				return new Known((completed != null) ? here.complete(stored(completed)) : here,
						found && row.getBoolean("repeated"));
			}
		}
	}

	private static Raised raised(GrantedFireTime granted, Instant instant, boolean takeover, FireTimes known) {
		return new Raised(
				new GrantedFireTime(granted.firing(), instant, takeover || granted.takeover(), known.completed()));
	}

	private void start(LeaseGrant grant, String schedule, FireTimes times) throws SQLException {
		try (PreparedStatement statement = prepare(FenceSql.START)) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setString(3, schedule);
			set(statement, 4, times.started());
			set(statement, 5, times.completed());
			statement.setLong(6, grant.token());
			statement.executeUpdate();
		}
	}

	/**
	 * Records that a run has ended by itself.
	 * @return false if the fence stands at another grant
	 */
	boolean complete(LeaseGrant grant, GrantedFireTime fireTime) throws SQLException {
		try (PreparedStatement statement = prepare(FenceSql.COMPLETE)) {
			statement.setString(1, grant.job().namespace());
			statement.setString(2, grant.job().name());
			statement.setLong(3, grant.token());
			statement.setString(4, grant.owner());
			statement.setString(5, fireTime.schedule());
			set(statement, 6, fireTime.instant());
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * What is known of a job.
	 * @param job the job
	 * @return by schedule
	 */
	Map<String, FireTimes> all(JobId job) throws SQLException {
		Map<String, FireTimes> known = new HashMap<>();
		try (PreparedStatement statement = prepare(FenceSql.FIRE_TIMES)) {
			statement.setString(1, job.namespace());
			statement.setString(2, job.name());
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					known.put(row.getString("schedule"), new FireTimes(get(row, "started"), get(row, "completed")));
				}
			}
		}
		return known;
	}

	private PreparedStatement prepare(String sql) throws SQLException {
		return this.connection.prepareStatement(
				sql.formatted(this.table.qualifiedName(this.connection), this.table.fireTimes(this.connection)));
	}

	private static void set(PreparedStatement statement, int index, @Nullable Instant instant) throws SQLException {
		statement.setObject(index, (instant != null) ? stored(instant).atOffset(ZoneOffset.UTC) : null,
				Types.TIMESTAMP_WITH_TIMEZONE);
	}

	private static @Nullable Instant get(ResultSet row, String column) throws SQLException {
		@Nullable OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
		return (value != null) ? value.toInstant() : null;
	}

	/** As the database keeps it. */
	private static Instant stored(Instant instant) {
		return instant.truncatedTo(ChronoUnit.MICROS);
	}

	/**
	 * What is known of the schedule of a grant.
	 *
	 * @param times in the database and from the store
	 * @param repeated whether the last start was this grant's
	 */
	private record Known(FireTimes times, boolean repeated) {

	}

}
