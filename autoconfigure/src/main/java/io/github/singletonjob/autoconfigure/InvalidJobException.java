package io.github.singletonjob.autoconfigure;

/**
 * A job, or the settings around it, cannot work. Fails the start.
 */
class InvalidJobException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String action;

	InvalidJobException(String message, String action) {
		super(message);
		this.action = action;
	}

	String getAction() {
		return this.action;
	}

}
