package io.github.singletonjob.fencing;

import org.jspecify.annotations.Nullable;

/**
 * The guarded database answered, and cannot hold the fence as it is: the application must
 * not start before that is mended.
 */
public class FenceUnusableException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates the exception.
	 * @param message what is wrong
	 * @param action what to do about it
	 * @param cause the driver's exception, or null
	 */
	public FenceUnusableException(String message, String action, @Nullable Throwable cause) {
		super(message, cause);
		this.action = action;
	}

	/**
	 * What to do about it.
	 * @return a sentence for people
	 */
	public String getAction() {
		return this.action;
	}

}
