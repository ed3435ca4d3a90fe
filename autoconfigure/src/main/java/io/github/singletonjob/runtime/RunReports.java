package io.github.singletonjob.runtime;

import io.github.singletonjob.StaleTokenException;

/**
 * Is told what happens to a run before its body has ended, on the thread that noticed;
 * must not block.
 */
interface RunReports {

	/** The run is lost; told once. */
	void lost(ActiveRun run, String reason);

	/** The guarded database has refused a write; told each time. */
	void refused(ActiveRun run, StaleTokenException refusal);

}
