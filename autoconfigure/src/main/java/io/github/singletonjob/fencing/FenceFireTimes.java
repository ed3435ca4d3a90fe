package io.github.singletonjob.fencing;

import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
 * under the exclusive lock of the raise, and completed under one that waits for it, so
 * that both are in the order of the tokens.
 */
abstract class FenceFireTimes {

	private final ChronoUnit precision;

	FenceFireTimes(ChronoUnit precision) {
		this.precision = precision;
	}

	/**
	 * Creates their view on one connection.
	 * @param statements the statements of a transaction
	 * @return the fire times in the form that the database has for them
	 */
	static FenceFireTimes of(FenceStatements statements) throws SQLException {
		return statements.isPortable() ? new PortableFireTimes(statements) : new PostgresFireTimes(statements);
	}

	/**
	 * Whether a fire time is too far ahead of the database's clock. Asked before the
	 * raise, so that one which is leaves nothing behind.
	 * @param fireTime the fire time
	 * @return the answer if it is, or null
	 */
	abstract @Nullable Early early(GrantedFireTime fireTime) throws SQLException;

	/**
	 * Decides which fire time the run stands for, after the fence was raised, and records
	 * it.
	 * @param grant the lease
	 * @param granted the fire time as the store has granted it
	 */
	FenceAnswer begin(LeaseGrant grant, GrantedFireTime granted) throws SQLException {
		Known known = known(grant, granted.schedule());
		Instant completedBefore = granted.completedBefore();
		FireTimes times = (completedBefore != null) ? known.times().complete(stored(completedBefore)) : known.times();
		Instant due = stored(granted.instant());
		Optional<Instant> open = times.open();
		if (known.repeated() && open.isPresent()) {
			return raised(granted, open.get(), !open.get().equals(due), times);
		}
		Firing firing = new Firing(granted.schedule(), due, granted.firing().finishesOpen());
		Optional<GrantedFireTime> decided = times.decide(firing);
		if (decided.isEmpty()) {
			return new AlreadyRan(times.completed());
		}
		start(grant, granted.schedule(), times.start(decided.get().instant()));
		return raised(granted, decided.get().instant(), decided.get().takeover(), times);
	}

	private static Raised raised(GrantedFireTime granted, Instant instant, boolean takeover, FireTimes known) {
		return new Raised(
				new GrantedFireTime(granted.firing(), instant, takeover || granted.takeover(), known.completed()));
	}

	/** What is known of the schedule of a grant whose fence was raised. */
	abstract Known known(LeaseGrant grant, String schedule) throws SQLException;

	/** Records what is known after a run was begun, under the lock of the raise. */
	abstract void start(LeaseGrant grant, String schedule, FireTimes times) throws SQLException;

	/**
	 * Records that a run has ended by itself.
	 * @return false if the fence stands at another grant
	 */
	abstract boolean complete(LeaseGrant grant, GrantedFireTime fireTime) throws SQLException;

	/**
	 * What is known of a job.
	 * @param job the job
	 * @return by schedule
	 */
	abstract Map<String, FireTimes> all(JobId job) throws SQLException;

	/** As the database keeps it. */
	final Instant stored(Instant instant) {
		return instant.truncatedTo(this.precision);
	}

	/**
	 * What is known of the schedule of a grant.
	 *
	 * @param times in the database
	 * @param repeated whether the last start was this grant's
	 */
	record Known(FireTimes times, boolean repeated) {

	}

}
