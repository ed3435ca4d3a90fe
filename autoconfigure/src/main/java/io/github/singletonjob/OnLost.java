package io.github.singletonjob;

/**
 * How the body of a run is told that its lease is lost, or that the run is cancelled.
 * Whatever is chosen, {@link JobRun#isHeld()} turns false, {@link JobRun#ensureHeld()}
 * throws, and a stage that the job has returned is cancelled. What the body of a lost run
 * still writes is refused by the fence; a cancelled run may commit as long as its lease
 * is held.
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
