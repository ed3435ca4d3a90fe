package io.github.singletonjob.fencing;

import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * The runs that a transaction belongs to: each that was current, with the runs around it,
 * while the transaction was worked on. Its commit is fenced by all of them, whatever
 * thread it happens on.
 */
final class CollectedRuns {

	private final List<LeasedRun> runs = new ArrayList<>(2);

	private @Nullable JobRun last;

	/**
	 * Adds the runs of the calling thread.
	 * @return whether the transaction belongs to any run
	 * @throws IllegalStateException if the thread is bound to a run that carries no
	 * grant, so that nothing could fence what it writes
	 */
	boolean collect() {
		JobRun current = CurrentJobRun.find().orElse(null);
		if (current != null && current != this.last) {
			if (!(current instanceof LeasedRun leased)) {
				throw new IllegalStateException("The thread '" + Thread.currentThread().getName()
						+ "' is bound to a run of the type " + current.getClass().getName()
						+ ", which carries no grant: what it writes could not be fenced. Bind the run that the job was"
						+ " given (JobRun.current() on the thread of the job), and bind none in tests without leases");
			}
			add(leased);
		}
		return !this.runs.isEmpty();
	}

	/**
	 * Adds the runs of the calling thread if they can be.
	 * @return whether the transaction belongs to any run
	 */
	boolean collectLeased() {
		if (CurrentJobRun.find().orElse(null) instanceof LeasedRun leased && leased != this.last) {
			add(leased);
		}
		return !this.runs.isEmpty();
	}

	private void add(LeasedRun innermost) {
		this.last = innermost;
		LeasedRun run = innermost;
		while (run != null) {
			if (!contains(run)) {
				this.runs.add(run);
			}
			run = run.enclosing().orElse(null);
		}
	}

	private boolean contains(LeasedRun run) {
		for (LeasedRun collected : this.runs) {
			if (collected == run) {
				return true;
			}
		}
		return false;
	}

	boolean isEmpty() {
		return this.runs.isEmpty();
	}

	List<LeasedRun> asList() {
		return this.runs;
	}

	List<LeaseGrant> grants() {
		if (this.runs.size() == 1) {
			return List.of(this.runs.get(0).grant());
		}
		return this.runs.stream().map(LeasedRun::grant).distinct().toList();
	}

	@Nullable LeasedRun firstWithoutAutocommit() {
		for (LeasedRun run : this.runs) {
			if (!run.allowsAutocommit()) {
				return run;
			}
		}
		return null;
	}

	/**
	 * Refuses locally what need not be sent.
	 * @throws io.github.singletonjob.LeaseLostException if one of the runs is over
	 */
	void ensureOpen() {
		this.runs.forEach(LeasedRun::ensureOpen);
	}

	void clear() {
		this.runs.clear();
		this.last = null;
	}

}
