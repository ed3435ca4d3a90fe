package io.github.singletonjob;

/**
 * Runs singleton jobs for code that has no annotated method. Injected as a bean.
 */
public interface SingletonJobs {

	/**
	 * Tries to take the job's lease and, if it was granted, executes the body on the
	 * calling thread. Returns when the body has ended and the lease was given back.
	 * @param job the job's name, 1 to 300 characters
	 * @param options settings of this job
	 * @param body the work
	 * @return how it ended; an exception of the body is in the result and not thrown, an
	 * {@link Error} is thrown after the lease was given back
	 * @throws io.github.singletonjob.lease.LeaseStoreException if the store or the
	 * guarded database could not answer, so that the body was not run
	 * @throws IllegalStateException if the calling thread is inside a run of the same job
	 * or inside an open transaction, or if the application is stopping
	 * @throws IllegalArgumentException if the name or the options cannot work
	 */
	RunResult run(String job, JobOptions options, JobBody body);

	/**
	 * As {@link #run(String, JobOptions, JobBody)} with the default options.
	 * @param job the job's name
	 * @param body the work
	 * @return how it ended
	 */
	default RunResult run(String job, JobBody body) {
		return run(job, JobOptions.defaults(), body);
	}

}
