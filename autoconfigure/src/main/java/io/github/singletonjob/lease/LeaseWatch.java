package io.github.singletonjob.lease;

/**
 * A stand-by's registration with a store.
 */
@FunctionalInterface
public interface LeaseWatch extends AutoCloseable {

	/** Watches nothing, for stores that are asked again and again instead. */
	LeaseWatch NONE = () -> {
	};

	/**
	 * Ends the registration and leaves nothing of it behind in the store, as far as that
	 * can be reached. Called on any thread. Does not block for longer than a call to the
	 * store may take; can be repeated.
	 */
	@Override
	void close();

}
