package io.github.singletonjob.lease;

import java.util.List;

/**
 * Grants leases that expire by themselves, each with a token greater than all tokens
 * granted for the same job before.
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
	 * firing. If the job is held, the call writes nothing and costs one round trip. A
	 * request that the store has granted already (same owner) is granted again with the
	 * same token; another request for a job that this instance holds is answered with
	 * {@link Acquisition.Held}.
	 * @param request the request
	 * @return the definite answer
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	Acquisition tryAcquire(LeaseRequest request);

	/**
	 * Renews leases that this store granted, in one round trip where the protocol allows
	 * it. Called on a renewal thread, about every third of the time to live, with all
	 * leases of one instance that have the same time to live, never twice at a time for
	 * the same time to live. Conditional on each lease's owner: a lease that is not the
	 * caller's any more is {@link Renewal#GONE}.
	 * @param grants the leases; not empty, all with the same time to live
	 * @return one answer for each lease, in the same order
	 * @throws LeaseStoreException if the outcome is unknown for all of them
	 */
	List<Renewal> renew(List<? extends LeaseGrant> grants);

	/**
	 * Gives a lease back, if it is still the caller's. Called after the body has ended,
	 * or for a lost lease whose body goes on; can be repeated, also while a renewal is on
	 * its way, which then has no effect.
	 * @param grant the lease
	 * @return false if the lease was not the caller's any more
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	boolean release(LeaseGrant grant);

}
