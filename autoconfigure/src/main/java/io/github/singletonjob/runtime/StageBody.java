package io.github.singletonjob.runtime;

import java.util.concurrent.CompletionStage;

import io.github.singletonjob.JobRun;
import org.jspecify.annotations.Nullable;

/**
 * The work of a job that goes on after the call has returned.
 */
@FunctionalInterface
public interface StageBody {

	/**
	 * Begins the work.
	 * @param run the run, current on the calling thread
	 * @return completed when the work has ended; null means that it has ended
	 * @throws Exception if the work could not begin
	 */
	@Nullable CompletionStage<?> begin(JobRun run) throws Exception;

}
