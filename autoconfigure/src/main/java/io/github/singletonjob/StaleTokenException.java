package io.github.singletonjob;

/**
 * A write of this run was refused: the guarded database, or the row that was to be
 * written, has seen a newer holder of the job, or is missing. The run is over. A
 * transaction of a guarded data source was rolled back, nothing of it was written; a row
 * fence on its own leaves the rollback to the transaction around it.
 * <p>
 * Not one of Spring's transaction exceptions, because some of those do not roll back.
 * Transaction managers may wrap it: look for it in the causes.
 */
public class StaleTokenException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String job;

	private final long token;

	/**
	 * Creates the exception.
	 * @param job the job's name
	 * @param token the token that was refused
	 * @param message what happened, for people
	 */
	public StaleTokenException(String job, long token, String message) {
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
	 * The token that was refused.
	 * @return the token
	 */
	public long getToken() {
		return this.token;
	}

}
