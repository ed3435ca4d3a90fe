package io.github.singletonjob.runtime;

import java.util.List;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;

/**
 * Tells several listeners.
 *
 * @param listeners the listeners, none of which throws
 */
record RunListeners(List<CarefulRunListener> listeners) implements RunListener {

	@Override
	public void skipped(JobId job, RunOutcome outcome) {
		this.listeners.forEach((listener) -> listener.skipped(job, outcome));
	}

	@Override
	public void notStarted(JobId job, Throwable cause) {
		this.listeners.forEach((listener) -> listener.notStarted(job, cause));
	}

	@Override
	public void granted(LeasedRun run) {
		this.listeners.forEach((listener) -> listener.granted(run));
	}

	@Override
	public void renewed(LeasedRun run, RenewalReport report) {
		this.listeners.forEach((listener) -> listener.renewed(run, report));
	}

	@Override
	public void refused(LeasedRun run, StaleTokenException refusal) {
		this.listeners.forEach((listener) -> listener.refused(run, refusal));
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		this.listeners.forEach((listener) -> listener.lost(run, reason));
	}

	@Override
	public void ended(LeasedRun run, RunResult result) {
		this.listeners.forEach((listener) -> listener.ended(run, result));
	}

}
