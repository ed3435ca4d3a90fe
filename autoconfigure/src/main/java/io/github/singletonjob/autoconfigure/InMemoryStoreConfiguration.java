package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The store for tests and a laptop.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnStore(StoreType.IN_MEMORY)
class InMemoryStoreConfiguration {

	@Bean
	@ConditionalOnMissingBean(LeaseStore.class)
	InMemoryLeaseStore singletonJobLeaseStore() {
		LogFactory.getLog(InMemoryStoreConfiguration.class)
			.warn("Singleton jobs keep their leases in memory: other instances run the same jobs at the same time."
					+ " For tests and a laptop only");
		return new InMemoryLeaseStore();
	}

}
