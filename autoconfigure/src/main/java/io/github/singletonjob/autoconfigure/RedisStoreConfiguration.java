package io.github.singletonjob.autoconfigure;

import java.util.List;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.redis.RedisLeaseStore;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The store in Redis.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnStore(StoreType.REDIS)
@ConditionalOnClass(name = { "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
		"io.lettuce.core.RedisClient" })
@ConditionalOnBean(type = "org.springframework.data.redis.connection.RedisConnectionFactory")
class RedisStoreConfiguration {

	private static final String STORE = "singletonJobLeaseStore";

	private static final String STATIC_NODES = "spring.data.redis.masterreplica.nodes";

	/** Closed by the engine, which knows when no body runs any more. */
	@Bean(destroyMethod = "")
	@ConditionalOnMissingBean(LeaseStore.class)
	PreparedStore singletonJobLeaseStore(SingletonJobProperties properties, RedisConnectionFactory connectionFactory,
			Environment environment) {
		if (Binder.get(environment).bind(STATIC_NODES, Bindable.listOf(String.class)).isBound()) {
			throw new UnusableStoreException(
					"The lease store cannot use " + STATIC_NODES + ": no other server takes over from the primary",
					"Use spring.data.redis.sentinel, spring.data.redis.cluster or a single server", null);
		}
		RedisLeaseStore store = new RedisLeaseStore(connectionFactory, properties.redis().keyPrefix());
		return new PreparedStore(store, new Preparation("The Redis of the lease store", List.of(store::probe)));
	}

	/** Not for a store of the application's own. */
	@Bean
	static SmartInitializingSingleton singletonJobUnfencedRedisReport(ListableBeanFactory beanFactory) {
		return () -> {
			if (beanFactory.containsBean(STORE) && beanFactory.getBeanProvider(Fence.class).getIfAvailable() == null) {
				LogFactory.getLog(RedisStoreConfiguration.class)
					.warn("Singleton jobs keep their leases in Redis, and no database is fenced. A Redis that fails over"
							+ " or restarts can forget a lease that it has granted, and then two holders write. Where"
							+ " that matters, guard the database that they write to; Redis alone is not enough");
			}
		};
	}

}
