package io.github.singletonjob.simulation;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * The guarded database: the fence row of one job, and the commits. Its methods happen at
 * one moment each.
 */
final class Database {

	private final History history;

	private final Flaw flaw;

	private long token;

	private String owner = "";

	private FireTimes times = FireTimes.NONE;

	/** So that a raise that is repeated finds what it has started itself. */
	private long startedBy;

	Database(History history, Flaw flaw) {
		this.history = history;
		this.flaw = flaw;
	}

	/** Looks at the row as a raise does, and leaves the token as it is; a flaw. */
	Fence.FenceAnswer look(LeaseGrant grant) {
		return (this.token > grant.token()) ? new Fence.Refused(this.token) : begin(grant);
	}

	Fence.FenceAnswer raise(LeaseGrant grant) {
		boolean again = isAt(grant);
		if (this.token >= grant.token() && !again) {
			return new Fence.Refused(this.token);
		}
		this.token = grant.token();
		this.owner = grant.owner();
		this.history.raised(grant);
		return begin(grant);
	}

	private Fence.FenceAnswer begin(LeaseGrant grant) {
		GrantedFireTime granted = grant.fireTime();
		if (granted == null) {
			return new Fence.Raised(null);
		}
		FireTimes known = this.times.and(new FireTimes(null, granted.completedBefore()));
		Firing firing = new Firing(granted.schedule(), granted.instant(),
				granted.firing().finishesOpen() || (this.startedBy == grant.token() && known.open().isPresent()));
		GrantedFireTime decided = known.decide(firing).orElse(null);
		if (decided == null) {
			return new Fence.AlreadyRan(known.completed());
		}
		this.times = known.start(decided.instant());
		this.startedBy = grant.token();
		return new Fence.Raised(new GrantedFireTime(granted.firing(), decided.instant(),
				decided.takeover() || granted.takeover(), known.completed()));
	}

	private boolean isAt(LeaseGrant grant) {
		return this.token == grant.token() && this.owner.equals(grant.owner());
	}

	boolean complete(LeaseGrant grant, GrantedFireTime fireTime) {
		boolean ours = isAt(grant);
		if (ours) {
			this.history.recorded(grant, fireTime.instant());
			this.history.completedInDatabase(fireTime.instant());
			this.times = this.times.complete(fireTime.instant());
		}
		return ours;
	}

	FireTimes fireTimes() {
		return this.times;
	}

	/** Checks and commits, in one step. */
	boolean commit(LeaseGrant grant) {
		boolean accepted = isAt(grant) || this.flaw == Flaw.COMMITS_NOT_CHECKED;
		if (accepted) {
			this.history.committed(grant);
		}
		return accepted;
	}

}
