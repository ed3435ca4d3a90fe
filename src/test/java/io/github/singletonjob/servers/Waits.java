package io.github.singletonjob.servers;

import java.time.Duration;
import java.util.concurrent.Callable;

import org.awaitility.Awaitility;

/**
 * Bounded waiting for a condition.
 */
final class Waits {

	private static final Duration POLL = Duration.ofMillis(10);

	private Waits() {
	}

	static void until(String what, Duration atMost, Callable<Boolean> condition) {
		Awaitility.await(what)
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.pollInterval(POLL)
			.atMost(atMost)
			.until(condition);
	}

}
