package io.github.singletonjob;

/**
 * What a job does in a run.
 */
@FunctionalInterface
public interface JobBody {

	/**
	 * Executes the work. {@code run} is also bound to the thread:
	 * {@link JobRun#current()}.
	 * @param run the run
	 * @throws Exception any failure; it ends the run as {@link RunOutcome#FAILED}
	 */
	void execute(JobRun run) throws Exception;

}
