package io.github.singletonjob.sample.demo;

import java.io.PrintStream;

/**
 * Where the demo is told: whole lines, each with the name of who says it.
 */
final class Terminal {

	private static final String STAGE = "demo";

	private final PrintStream out;

	Terminal(PrintStream out) {
		this.out = out;
	}

	/**
	 * Prints a line of one of the servers.
	 * @param server the server's name
	 * @param line what it said
	 */
	void quote(String server, String line) {
		print(server, line);
	}

	/**
	 * Prints a line of the demo itself.
	 * @param line what to say
	 */
	void tell(String line) {
		print(STAGE, line);
	}

	private synchronized void print(String who, String line) {
		this.out.printf("%-8s | %s%n", who, line);
		this.out.flush();
	}

}
