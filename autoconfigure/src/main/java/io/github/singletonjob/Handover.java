package io.github.singletonjob;

/**
 * What a run does when the holder before it has not given its lease back, so that its
 * body may still be at work.
 */
public enum Handover {

	/** It begins at once. The fence refuses what the earlier one still writes. */
	FAST,

	/**
	 * It waits, with the lease held and before the body begins, for as long as the
	 * earlier holder could rely on its lease: for effects that cannot be fenced. (The
	 * lock-delay of Google's Chubby.) No wait is long enough for a holder that is frozen.
	 */
	STRICT

}
