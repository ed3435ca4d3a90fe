package io.github.singletonjob.sample.demo;

/**
 * This machine does not have a program that the demo needs.
 */
final class MissingProgramException extends RuntimeException {

	private final String remedy;

	MissingProgramException(String program, String remedy) {
		super("The program '" + program + "' is not on the PATH of this machine");
		this.remedy = remedy;
	}

	/**
	 * What to do about it.
	 * @return a sentence
	 */
	String remedy() {
		return this.remedy;
	}

}
