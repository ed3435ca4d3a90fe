package io.github.singletonjob.autoconfigure;

import java.util.ArrayDeque;
import java.util.Deque;

import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import org.jspecify.annotations.Nullable;

/**
 * Carries what a stand-by asks for through the proxy of a job to the interceptor, on one
 * thread, and the result back; that of a stage from another thread, before the stage that
 * the stand-by waits for is completed.
 */
final class RequestedRun implements AutoCloseable {

	private static final ThreadLocal<Deque<RequestedRun>> REQUESTED = ThreadLocal.withInitial(ArrayDeque::new);

	private final JobId job;

	private final @Nullable Firing firing;

	private boolean taken;

	private @Nullable RunResult result;

	private RequestedRun(JobId job, @Nullable Firing firing) {
		this.job = job;
		this.firing = firing;
	}

	/** Asks for a run of a job by the next call of it on this thread. */
	static RequestedRun open(JobId job, @Nullable Firing firing) {
		RequestedRun requested = new RequestedRun(job, firing);
		REQUESTED.get().push(requested);
		return requested;
	}

	/** What was asked for, once; null if nothing was asked for on this thread. */
	static @Nullable RequestedRun take(JobId job) {
		RequestedRun requested = REQUESTED.get().peek();
		if (requested == null || requested.taken || !requested.job.equals(job)) {
			return null;
		}
		requested.taken = true;
		return requested;
	}

	@Nullable Firing firing() {
		return this.firing;
	}

	void ended(RunResult ended) {
		this.result = ended;
	}

	@Nullable RunResult result() {
		return this.result;
	}

	@Override
	public void close() {
		Deque<RequestedRun> requested = REQUESTED.get();
		requested.remove(this);
		if (requested.isEmpty()) {
			REQUESTED.remove();
		}
	}

}
