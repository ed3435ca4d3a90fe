package io.github.singletonjob.lease;

import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * What is known of the fire times of one schedule.
 *
 * @param started the last one that a run was begun for, or null
 * @param completed the last one whose run has ended by itself, or null
 */
public record FireTimes(@Nullable Instant started, @Nullable Instant completed) {

	/** Nothing is known. */
	public static final FireTimes NONE = new FireTimes(null, null);

	/**
	 * The fire time that was started and not completed.
	 * @return the open fire time, if there is one
	 */
	public Optional<Instant> open() {
		boolean open = this.started != null && (this.completed == null || this.completed.isBefore(this.started));
		return open ? Optional.ofNullable(this.started) : Optional.empty();
	}

	/**
	 * Decides which fire time a run stands for that is begun now for a firing. Stores
	 * that decide in a language of their own follow the same rule:
	 * <ol>
	 * <li>a fire time that is not after the completed one has run;</li>
	 * <li>if one is open, that one is finished, where the firing may do so; where it may
	 * not, a fire time that is not after the started one has run;</li>
	 * <li>otherwise the firing's own is begun, if it has one.</li>
	 * </ol>
	 * @param firing the firing
	 * @return the fire time, or empty if there is nothing to run
	 */
	public Optional<GrantedFireTime> decide(Firing firing) {
		Instant due = firing.fireTime();
		if (due != null && this.completed != null && !due.isAfter(this.completed)) {
			return Optional.empty();
		}
		Instant open = open().orElse(null);
		if (open != null && firing.finishesOpen()) {
			return Optional.of(new GrantedFireTime(firing, open, true, this.completed));
		}
		if (due == null || (this.started != null && !due.isAfter(this.started))) {
			return Optional.empty();
		}
		return Optional.of(new GrantedFireTime(firing, due, false, this.completed));
	}

	/**
	 * The same after a run was begun.
	 * @param fireTime its fire time
	 * @return new fire times
	 */
	public FireTimes start(Instant fireTime) {
		return new FireTimes(later(this.started, fireTime), this.completed);
	}

	/**
	 * The same after a run has ended by itself. A run cannot be completed that was not
	 * started, so this counts as started, too.
	 * @param fireTime its fire time
	 * @return new fire times
	 */
	public FireTimes complete(Instant fireTime) {
		return new FireTimes(later(this.started, fireTime), later(this.completed, fireTime));
	}

	/**
	 * What two records know together.
	 * @param other what another record knows
	 * @return the later of each
	 */
	public FireTimes and(FireTimes other) {
		FireTimes both = this;
		if (other.started != null) {
			both = both.start(other.started);
		}
		return (other.completed != null) ? both.complete(other.completed) : both;
	}

	private static Instant later(@Nullable Instant known, Instant fireTime) {
		return (known != null && known.isAfter(fireTime)) ? known : fireTime;
	}

}
