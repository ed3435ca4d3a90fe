package io.github.singletonjob.simulation;

/**
 * How a store ends leases, other than by their time.
 */
enum StoreKind {

	/** A lease lives as long as its session, which can end early. */
	POSTGRES,

	/** Every lease for itself; the server can forget what it has confirmed. */
	REDIS,

	/** One lease for all jobs of a process; it can end late. */
	ETCD

}
