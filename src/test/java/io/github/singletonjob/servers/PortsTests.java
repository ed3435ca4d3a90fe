package io.github.singletonjob.servers;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The ports of the servers.
 */
class PortsTests {

	/** Or a server that is down for a while is answered for by another test's. */
	@Test
	void eachOfTheJvmsOfABuildHasPortsOfItsOwn() {
		assumeTrue(System.getProperty("surefire.test.class.path") != null, "started by surefire");
		assertThat(Integer.getInteger("servers.jvm")).as("servers.jvm, with the number of the JVM").isGreaterThan(10);
	}

	@Test
	void noPortIsFoundTwice() {
		assertThat(Ports.free()).isNotEqualTo(Ports.free());
	}

}
