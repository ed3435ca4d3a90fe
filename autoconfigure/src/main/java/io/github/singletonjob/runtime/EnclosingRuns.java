package io.github.singletonjob.runtime;

import java.util.Optional;
import java.util.stream.Stream;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;
import org.jspecify.annotations.Nullable;

/**
 * The runs around a run: the one on whose thread it is started, the one around that, and
 * so on outwards.
 */
final class EnclosingRuns {

	private EnclosingRuns() {
	}

	/**
	 * The run that a job would be started in on the calling thread.
	 * @return the innermost, or null outside of any
	 * @throws IllegalStateException if it or one around it is of the same job
	 */
	static @Nullable LeasedRun around(JobId job) {
		Optional<LeasedRun> innermost = CurrentJobRun.find()
			.filter(LeasedRun.class::isInstance)
			.map(LeasedRun.class::cast);
		if (outwards(innermost).anyMatch((run) -> run.grant().job().equals(job))) {
			throw new IllegalStateException(
					job.name() + ": the job starts itself again on its own thread, which would wait for its own lease."
							+ " Call the method's work directly, or use a job of another name");
		}
		return innermost.orElse(null);
	}

	/** Whether the thread of one around a run was interrupted by it. */
	static boolean isAnyInterrupted(ActiveRun run) {
		return outwards(run.enclosing())
			.anyMatch((around) -> around instanceof ActiveRun active && active.life().isInterrupted());
	}

	private static Stream<LeasedRun> outwards(Optional<LeasedRun> innermost) {
		return Stream.iterate(innermost, Optional::isPresent, (run) -> run.flatMap(LeasedRun::enclosing))
			.flatMap(Optional::stream);
	}

}
