package io.github.singletonjob;

import java.util.List;

/**
 * Runs singleton jobs for code that has no annotated method. Injected as a bean.
 */
public interface SingletonJobs {

	/**
	 * Tries to take the job's lease and, if it was granted, executes the body on the
	 * calling thread. Returns when the body has ended and the lease was given back, is
	 * held on to for its {@code minHold}, or is given back later because the store did
	 * not answer.
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

	/**
	 * Asks the store what there is to know of the jobs that this application declares, by
	 * an annotation or by settings, and of those that have run here; a name that depends
	 * on the call stands for the latter. Asks for one after the other, and does not go on
	 * asking once the store has not answered: then the state of the rest is
	 * {@link JobStatus.State#UNKNOWN}.
	 * @return the jobs, by name
	 */
	List<JobStatus> jobs();

	/**
	 * Takes the lease of a job away from whoever holds it, wherever that is. Its run is
	 * lost as soon as its holder asks for the next renewal, and cannot commit any more
	 * once another one has begun; an open fire time is taken over. For an operator who
	 * knows that the holder is not doing its work.
	 * @param job the job's name
	 * @param token the token that the operator has seen: a lease that was granted anew
	 * since is left alone
	 * @return false if no lease with that token is held
	 * @throws io.github.singletonjob.lease.LeaseStoreException if the store did not
	 * answer: it may have been done
	 * @throws UnsupportedOperationException if the store cannot do it
	 * @throws IllegalArgumentException if there can be no job of that name
	 */
	boolean release(String job, long token);

	/**
	 * Makes sure that the calling code is inside a run of a job, on a thread that carries
	 * that run or one nested in it, and that its lease is held: for methods that must
	 * never be reached otherwise, such as by a call from within the same object, which no
	 * proxy sees.
	 * @param job the job's name
	 * @throws IllegalStateException if the calling thread is not inside a run of that job
	 * @throws LeaseLostException if it is, and the run is over
	 */
	void assertHeld(String job);

}
