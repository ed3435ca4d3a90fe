package io.github.singletonjob.autoconfigure;

/**
 * The stores that can be named in {@code singleton-job.store}.
 */
enum StoreType {

	/** PostgreSQL, by session advisory locks. */
	POSTGRES,

	/** Redis, by keys that expire. */
	REDIS,

	/** etcd, by keys that are attached to a lease of etcd. */
	ETCD,

	/** This process alone: for tests and a laptop. */
	IN_MEMORY

}
