package io.github.singletonjob.postgres;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The database answered, and the answer says that leases cannot be kept in it as it is: a
 * transaction pooler is in between, a table or a right is missing, the server is too old
 * or a stand-by. Somebody has to change something; the store works from then on, without
 * a restart.
 */
public class UnusableStoreException extends LeaseStoreException {

	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates the exception.
	 * @param message what was found, and what it would mean
	 * @param action what to do about it
	 * @param cause the driver's exception, or null
	 */
	public UnusableStoreException(String message, String action, @Nullable Throwable cause) {
		super(message, cause);
		this.action = action;
	}

	/**
	 * What to do.
	 * @return an instruction for an operator or a developer
	 */
	public String action() {
		return this.action;
	}

}
