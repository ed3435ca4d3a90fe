package io.github.singletonjob;

/**
 * How the body of a run is told that its lease is over. Whatever is chosen,
 * {@link JobRun#isHeld()} turns false, {@link JobRun#ensureHeld()} throws, the fence
 * refuses what the body still writes, and a stage that the job has returned is cancelled.
 */
public enum OnLost {

	/**
	 * The thread of the body is interrupted, once. Blocking calls end early.
	 */
	INTERRUPT,

	/**
	 * The thread is left alone: the body looks at {@link JobRun#isHeld()} by itself.
	 */
	SIGNAL

}
