package io.github.singletonjob.sample.demo;

import java.util.Optional;

/**
 * The lease stores that two processes can share.
 */
enum StoreChoice {

	/** The leases are in the company's own database. */
	POSTGRES,

	/** The leases are in a Redis. */
	REDIS,

	/** The leases are in an etcd. */
	ETCD;

	/**
	 * What has to run beside the company's database.
	 * @return the program, or empty if the database is enough
	 */
	Optional<StoreProgram> program() {
		return switch (this) {
			case POSTGRES -> Optional.empty();
			case REDIS -> Optional.of(new RedisProgram());
			case ETCD -> Optional.of(new EtcdProgram());
		};
	}

}
