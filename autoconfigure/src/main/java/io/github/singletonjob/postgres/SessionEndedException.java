package io.github.singletonjob.postgres;

import org.jspecify.annotations.Nullable;

/**
 * The session on which a call was to be made is over, and with it, on the server, every
 * advisory lock that it held.
 */
class SessionEndedException extends Exception {

	private static final long serialVersionUID = 1L;

	SessionEndedException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
