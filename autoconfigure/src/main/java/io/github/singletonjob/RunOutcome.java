package io.github.singletonjob;

/**
 * How an attempt to run a job ended.
 */
public enum RunOutcome {

	/** The body returned normally while the lease was held. */
	COMPLETED,

	/**
	 * The body threw, and the store has confirmed after that that the lease was still
	 * held; or it exceeded its limit.
	 */
	FAILED,

	/** Another holder has the lease; the body was not run. */
	SKIPPED_HELD,

	/**
	 * The fire time was completed before, or there was none to take over; the body was
	 * not run.
	 */
	SKIPPED_ALREADY_RAN,

	/**
	 * The lease was lost, or a write was refused, before the body ended; or the body
	 * threw, and nobody could confirm that the lease was still held. Whatever the body
	 * returned or threw, the run does not count as completed.
	 */
	LOST,

	/**
	 * The run was cancelled before its body ended, because the application stops or
	 * because its thread was interrupted while it waited for the holder before.
	 */
	CANCELLED

}
