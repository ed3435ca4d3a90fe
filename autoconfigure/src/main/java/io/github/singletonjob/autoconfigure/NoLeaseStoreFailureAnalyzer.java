package io.github.singletonjob.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says which property and which dependency a store needs.
 */
class NoLeaseStoreFailureAnalyzer extends AbstractFailureAnalyzer<NoLeaseStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, NoLeaseStoreException cause) {
		StoreType store = cause.getStore();
		if (store == null) {
			return new FailureAnalysis(
					"Singleton jobs have no store for their leases: singleton-job.store is not set, and there is no"
							+ " LeaseStore bean.",
					"Set singleton-job.store to postgres, redis or etcd, or to in-memory for tests and a laptop. It is never guessed"
							+ " from the class path, so that all instances of a rolling update use the same store.",
					cause);
		}
		if (store == StoreType.REDIS) {
			return new FailureAnalysis(
					"The store 'redis' has nothing to connect with: Spring Data Redis with Lettuce, or a"
							+ " RedisConnectionFactory, is missing.",
					"Add the dependency org.springframework.boot:spring-boot-starter-data-redis and set"
							+ " spring.data.redis.host, or spring.data.redis.sentinel or .cluster.",
					cause);
		}
		if (store == StoreType.ETCD) {
			return new FailureAnalysis(
					"The store 'etcd' has nothing to connect with: the client jetcd or the addresses of etcd are missing.",
					"Add the dependency io.etcd:jetcd-core and set singleton-job.etcd.endpoints, or define a bean of"
							+ " the type io.etcd.jetcd.Client.",
					cause);
		}
		return new FailureAnalysis(
				"The store 'postgres' has nothing to connect with: the PostgreSQL driver or a source of connections is"
						+ " missing.",
				"Add the dependency org.postgresql:postgresql and set spring.datasource.url, or define a DataSource"
						+ " bean, for the store alone with the qualifier @SingletonJobDataSource.",
				cause);
	}

}
