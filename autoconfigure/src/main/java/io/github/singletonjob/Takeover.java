package io.github.singletonjob;

/**
 * What becomes of a fire time that was started and not completed.
 */
public enum Takeover {

	/**
	 * An instance that is alive finishes it, with {@link JobRun#isTakeover()}, as soon as
	 * the lease is free: a fire time is completed at least once. What a crash between the
	 * last commit and the record of it repeats is guarded by idempotency keys.
	 */
	AUTOMATIC,

	/**
	 * Nobody does: a fire time is started at most once, and the next one is due in its
	 * time.
	 */
	NEVER

}
