package io.github.singletonjob.sample.demo;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The program of a lease store.
 */
interface StoreProgram {

	/**
	 * How people call it.
	 * @return its name
	 */
	String title();

	/**
	 * How it is started, in the foreground.
	 * @param directory an empty directory of its own
	 * @param port where it is to listen, on the loopback address
	 * @return program and arguments, the port among them
	 * @throws MissingProgramException if this machine does not have the program
	 */
	List<String> command(Path directory, int port);

	/**
	 * What a server has to know to use it.
	 * @param port where it listens
	 * @return environment variables
	 */
	Map<String, String> settings(int port);

	/**
	 * Asks it whether it is ready.
	 * @param port where it listens
	 * @return whether it can be used
	 */
	boolean answers(int port);

}
