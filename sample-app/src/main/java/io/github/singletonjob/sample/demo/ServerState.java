package io.github.singletonjob.sample.demo;

/**
 * How a server is at the moment.
 *
 * @param name its name
 * @param pid its process id
 * @param condition how it is
 */
record ServerState(String name, long pid, Condition condition) {

	/**
	 * What can be seen of a process from outside.
	 */
	enum Condition {

		/** It cannot be reached yet. */
		STARTING,

		/** It works, or waits for its turn. */
		RUNNING,

		/** Somebody has stopped it by a signal, and can wake it up. */
		FROZEN,

		/** It is gone. */
		ENDED

	}

}
