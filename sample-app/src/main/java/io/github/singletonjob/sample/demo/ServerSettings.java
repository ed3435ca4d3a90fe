package io.github.singletonjob.sample.demo;

import java.util.Map;

/**
 * Something that the servers use and have to be told of.
 */
interface ServerSettings {

	/**
	 * How it is reached.
	 * @return environment variables
	 */
	Map<String, String> settings();

}
