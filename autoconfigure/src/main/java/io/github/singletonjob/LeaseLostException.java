package io.github.singletonjob;

/**
 * The lease of this run is over: it was lost, the run was cancelled, or it has ended.
 * Another holder may be at work already. What the run has committed so far stands; what
 * it has not committed is refused by a guarded database.
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
