package io.github.singletonjob.lease;

import org.jspecify.annotations.Nullable;

/**
 * A store or the guarded database could not answer: the outcome of the call is unknown.
 */
public class LeaseStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what happened, what it means and what to do
	 * @param cause the client library's exception, or null
	 */
	public LeaseStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
