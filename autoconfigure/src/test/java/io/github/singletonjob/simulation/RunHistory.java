package io.github.singletonjob.simulation;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * What became of one grant, as an observer saw it who sees everything. Times are virtual
 * nanoseconds, {@link #NEVER} if it did not happen.
 */
final class RunHistory {

	static final long NEVER = Long.MAX_VALUE;

	final Lease lease;

	final long granted;

	@Nullable LeasedRun run;

	@Nullable RunOutcome outcome;

	/** How the lease ended in the store. */
	Lease.@Nullable End leaseEnd;

	long leaseEnded = NEVER;

	long began = NEVER;

	long ended = NEVER;

	/** When the body was interrupted, or its stage cancelled. */
	long told = NEVER;

	/** When its application was stopped, or the database refused a commit. */
	long cutShort = NEVER;

	/** When the runtime said that it was lost. */
	long lost = NEVER;

	int losses;

	/** Its body has ended by an exception of its own. */
	boolean failed;

	/** Does not stop when it is told. */
	boolean stubborn;

	RunHistory(Lease lease, long granted) {
		this.lease = lease;
		this.granted = granted;
	}

	SimulatedProcess process() {
		return this.lease.process;
	}

	/** Whether its body is at work. */
	boolean isWorking() {
		return this.began != NEVER && this.ended == NEVER && !process().isGone();
	}

	/** Whether its body failed after its lease had gone, known or not. */
	boolean failedWithoutLease() {
		return this.failed && this.leaseEnded < this.ended;
	}

	/** Whether it was over before its body was, limits apart. */
	boolean wasCutShort() {
		return Math.min(this.cutShort, this.told) < this.ended;
	}

	@Override
	public String toString() {
		return "run " + this.lease.token() + " on " + process();
	}

}
