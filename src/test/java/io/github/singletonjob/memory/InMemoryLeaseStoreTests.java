package io.github.singletonjob.memory;

import java.time.Duration;

import io.github.singletonjob.contract.LeaseStoreContract;
import io.github.singletonjob.contract.StoreTraits;
import io.github.singletonjob.lease.LeaseStore;

/**
 * The contract, kept in memory.
 */
class InMemoryLeaseStoreTests extends LeaseStoreContract {

	private final InMemoryLeaseStore store = new InMemoryLeaseStore();

	@Override
	protected LeaseStore openInstance() {
		return this.store;
	}

	@Override
	protected StoreTraits traits() {
		return new StoreTraits(Duration.ofMillis(400), Duration.ofMillis(400), Duration.ofSeconds(1));
	}

}
