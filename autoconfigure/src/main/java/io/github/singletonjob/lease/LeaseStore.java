package io.github.singletonjob.lease;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Grants leases that expire by themselves, each with a token greater than all tokens
 * granted for the same job before, or, after a store has lost what it knew, greater than
 * the floor of the request.
 * <p>
 * All methods block, for at most about the call time-out of the request, and may be
 * called from several threads at once. Only a first call of a store that has to connect
 * may take up to a third of the time to live before that. They are never called on a
 * thread that is inside a transaction on the caller's behalf: a store uses connections of
 * its own. A {@link LeaseStoreException} means that the outcome is <em>unknown</em>,
 * neither granted nor refused; a store that may have granted without being able to say so
 * gives that grant up by itself.
 */
public interface LeaseStore {

	/**
	 * Asks for a lease. Called on the thread that is to execute the job, once for each
	 * firing. If the job is held, or the firing has nothing to run, the call writes
	 * nothing and costs one round trip. If both is so, either may be answered. The grant
	 * for a firing records its fire time as started, in the same step. A request that the
	 * store has granted already (same owner) is granted again with the same token;
	 * another request for a job that this instance holds is answered with
	 * {@link Acquisition.Held}.
	 * @param request the request
	 * @return the definite answer
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	Acquisition tryAcquire(LeaseRequest request);

	/**
	 * Renews leases that this store granted, in one round trip where the protocol allows
	 * it. Called on a worker thread, about every third of the time to live, and at once
	 * when the clocks disagree or a body has thrown, with all leases of one instance that
	 * have the same times. Leases with the same time to live and another renewal period
	 * can be renewed at the same time. Conditional on each lease's owner: a lease that is
	 * not the caller's any more is {@link Renewal#GONE}.
	 * @param grants the leases; not empty, all with the same time to live
	 * @return one answer for each lease, in the same order
	 * @throws LeaseStoreException if the outcome is unknown for all of them
	 */
	List<Renewal> renew(List<LeaseGrant> grants);

	/**
	 * Records that the run of a grant has ended by itself, and keeps the lease. Called on
	 * the thread on which the body has ended, when the lease is to be held on to.
	 * Conditional on the owner.
	 * @param grant the lease, with a fire time
	 * @param completed the fire time that was completed, of the schedule of the grant's
	 * @return false if the lease was not the caller's any more; then nothing is recorded
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	boolean complete(LeaseGrant grant, Instant completed);

	/**
	 * Gives a lease back, if it is still the caller's, and records in the same step what
	 * was completed. Called on the thread on which the body has ended, on that of an
	 * attempt whose body was not run, or on a worker thread: for a run that is over and
	 * whose body goes on, for a lease that was held on to, or once more. Can be repeated,
	 * also while a renewal is on its way, which then has no effect.
	 * @param grant the lease
	 * @param completed the fire time that was completed, of the schedule of the grant's;
	 * null if the run has none or was cut short, so that its fire time stays open
	 * @return false if the lease was not the caller's any more
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	boolean release(LeaseGrant grant, @Nullable Instant completed);

	/**
	 * Gives a lease back without anything to record, as
	 * {@link #release(LeaseGrant, Instant)}.
	 * @param grant the lease
	 * @return false if the lease was not the caller's any more
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	default boolean release(LeaseGrant grant) {
		return release(grant, null);
	}

	/**
	 * Looks at a job and writes nothing. Called on any thread: by instances that stand
	 * by, three to six times in a time to live and at least every 10 s, and for operators
	 * and health.
	 * @param job the job
	 * @param timeout how long the call may take
	 * @return what the store knows
	 * @throws LeaseStoreException if the store did not answer
	 */
	LeaseRecord inspect(JobId job, Duration timeout);

	/**
	 * Looks at several jobs, for operators. A store that can asks for all of them in one
	 * round trip; this one looks at one after the other. Called on any thread.
	 * @param jobs the jobs
	 * @param timeout how long a call to the store may take
	 * @return what the store knows of each
	 * @throws LeaseStoreException if the store did not answer
	 */
	default Map<JobId, LeaseRecord> inspect(Collection<JobId> jobs, Duration timeout) {
		Map<JobId, LeaseRecord> records = new LinkedHashMap<>();
		for (JobId job : jobs) {
			records.put(job, inspect(job, timeout));
		}
		return records;
	}

	/**
	 * Takes the lease of a job away from whoever holds it, for an operator. Conditional
	 * on the token that the operator has seen: a lease that was granted anew since is
	 * left alone. The holder learns of it by its next renewal, which is answered with
	 * {@link Renewal#GONE}; its fire time stays open. Called on any thread.
	 * @param job the job
	 * @param token the token of the lease to end
	 * @param timeout how long the call may take
	 * @return false if no lease with that token is held
	 * @throws LeaseStoreException if the outcome is unknown
	 * @throws UnsupportedOperationException if the store cannot do it
	 */
	default boolean revoke(JobId job, long token, Duration timeout) {
		throw new UnsupportedOperationException(
				getClass().getName() + " cannot take the lease of " + job + " away from its holder");
	}

	/**
	 * Asks to be told when the lease of a job may have become free. Instances that stand
	 * by look by themselves from time to time, so this only makes them quicker; a store
	 * that can should wake one of them, not all. Called on a worker thread.
	 * @param job the job
	 * @param ttl the time to live that the stand-by would ask for
	 * @param freed is called on any thread, perhaps more than once and perhaps for
	 * nothing; does not block
	 * @return ends the registration
	 * @throws LeaseStoreException if the store did not answer
	 */
	default LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		return LeaseWatch.NONE;
	}

}
