package io.github.singletonjob.runtime;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStore;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that this instance would take over: it looks at each when it starts, whenever
 * it is told to, and for as long as there is something to wait for. All of it happens on
 * worker threads, so the scheduler stays free.
 */
public final class StandBy {

	private final Map<JobId, Candidacy> candidacies = new ConcurrentHashMap<>();

	private final LeaseStore store;

	private final @Nullable Fence fence;

	private final Scheduling scheduling;

	/**
	 * Creates a stand-by for no job.
	 * @param store knows who holds a job, and what is open
	 * @param fence knows what is open if the store has forgotten it; may be null
	 * @param scheduling time and threads
	 */
	public StandBy(LeaseStore store, @Nullable Fence fence, Scheduling scheduling) {
		this.store = store;
		this.fence = fence;
		this.scheduling = scheduling;
	}

	/**
	 * Stands by for a job from now on, and looks at it at once.
	 * @param job the job; one of the same id is replaced
	 */
	public void add(StandByJob job) {
		Candidacy candidacy = new Candidacy(job, new StandByView(this.store, this.fence, job), this.scheduling);
		Candidacy before = this.candidacies.put(job.id(), candidacy);
		if (before != null) {
			before.close();
		}
		candidacy.look();
	}

	/**
	 * Looks at a job soon: a firing of it was skipped, or its run was cut short. If no
	 * run of another fire time was in its way, but an extra run or an attempt, the firing
	 * is made up for. Does nothing for a job that nobody stands by for.
	 * @param job the job
	 * @param firing the firing
	 */
	public void look(JobId job, Firing firing) {
		Candidacy candidacy = this.candidacies.get(job);
		if (candidacy != null) {
			candidacy.missed(firing);
		}
	}

	/**
	 * Stands by for nothing any more. Runs that were started go on.
	 */
	public void close() {
		this.candidacies.values().forEach(Candidacy::close);
		this.candidacies.clear();
	}

}
