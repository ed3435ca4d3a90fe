package io.github.singletonjob.simulation;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.simulation.Lease.End;

/**
 * How long a body may go on believing in a lease that is over: not at all if it has ended
 * by its time, for the reliable part of its time if it was ended before. A process that
 * is frozen then learns of it as soon as it goes on.
 */
final class Beliefs {

	/** For timers that are late, in nanoseconds. */
	static final long SLACK = 10_000_000;

	private final EventLoop loop;

	private final Plan plan;

	private final History history;

	Beliefs(EventLoop loop, Plan plan, History history) {
		this.loop = loop;
		this.plan = plan;
		this.history = history;
	}

	void leaseEnded(RunHistory run) {
		long bound = (run.leaseEnd == End.EXPIRED) ? 0 : this.plan.reliable() + SLACK;
		checkAt(run, Math.max(run.leaseEnded + bound, this.loop.now() + ((run.began == this.loop.now()) ? SLACK : 0)));
	}

	private void checkAt(RunHistory run, long time) {
		this.loop.instant(time, null, () -> check(run));
	}

	private void check(RunHistory run) {
		if (!run.isWorking()) {
			return;
		}
		long awake = run.process().pausedUntil() + SLACK;
		if (awake > this.loop.now()) {
			checkAt(run, awake);
			return;
		}
		LeasedRun leased = run.run;
		this.history.require(leased != null && !leased.isHeld(), run, "believes in a lease that is over");
		boolean mustBeTold = this.plan.settings().onLost() == OnLost.INTERRUPT
				&& !run.process().wasSuspendedSince(run.leaseEnded - 2 * this.plan.ttl());
		this.history.require(!mustBeTold || run.told != RunHistory.NEVER, run, "was not told that its lease is over");
	}

	/** Two bodies were at work at once, the newer one since it began. */
	void overlapped(RunHistory older, long newerBegan) {
		boolean looksOnly = this.plan.settings().onLost() == OnLost.SIGNAL;
		if (looksOnly || newerBegan >= older.ended
				|| older.process().wasSuspendedSince(older.leaseEnded - 2 * this.plan.ttl())) {
			return;
		}
		long bound = (older.leaseEnd == End.EXPIRED) ? 0 : this.plan.reliable();
		long frozen = older.process().pausedWithin(older.leaseEnded - this.plan.ttl(), older.ended);
		// Work ends in half of the margin after it was told
		long most = bound + SLACK + ((frozen > 0 || bound > 0) ? frozen + this.plan.stopEarly() / 2 : 0);
		this.history.require(older.ended - newerBegan <= most, older,
				"overlaps with a newer body for " + (older.ended - newerBegan) / 1_000_000 + " ms");
	}

}
