package io.github.singletonjob.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * No store was named, or the one that was named cannot be built.
 */
class NoLeaseStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final @Nullable StoreType store;

	NoLeaseStoreException(@Nullable StoreType store) {
		super("No lease store");
		this.store = store;
	}

	@Nullable StoreType getStore() {
		return this.store;
	}

}
