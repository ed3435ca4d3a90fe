package io.github.singletonjob.simulation;

/**
 * Unwinds the strands of a process that is gone. Nothing that they do on their way out
 * has an effect.
 */
final class Crash extends Error {

	private static final long serialVersionUID = 1L;

	Crash() {
		super("the process is gone", null, false, false);
	}

}
