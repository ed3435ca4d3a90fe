package io.github.singletonjob;

/**
 * This run must not go on: its lease was lost, its body has ended, or it was cancelled.
 * What it has committed so far stands. Another holder may be at work already, and a
 * guarded database refuses what this run has not committed, unless it was merely
 * cancelled and still holds its lease.
 * <p>
 * Not one of Spring's transaction exceptions, because some of those do not roll back.
 */
public class LeaseLostException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String job;

	private final long token;

	/**
	 * Creates the exception.
	 * @param job the job's name
	 * @param token the token of the run whose lease is over
	 * @param message what happened, for people
	 */
	public LeaseLostException(String job, long token, String message) {
		super(message);
		this.job = job;
		this.token = token;
	}

	/**
	 * The job's name.
	 * @return the name, without the namespace
	 */
	public String getJob() {
		return this.job;
	}

	/**
	 * The token of the run whose lease is over.
	 * @return the token
	 */
	public long getToken() {
		return this.token;
	}

}
