package io.github.singletonjob;

/**
 * What becomes of a run when its application stops. Whatever is chosen, no new run
 * begins, the lease is renewed until the body has ended, and what the body commits
 * meanwhile is fenced as always.
 */
public enum OnShutdown {

	/** As {@code singleton-job.on-shutdown} says: {@link #CANCEL} unless it is set. */
	DEFAULT,

	/**
	 * The run is cancelled at once: its body is told to stop, and its fire time stays
	 * open for another instance.
	 */
	CANCEL,

	/**
	 * The run may finish. It is cancelled when as much as its {@code stop-early} is left
	 * of {@code spring.lifecycle.timeout-per-shutdown-phase}.
	 */
	FINISH

}
