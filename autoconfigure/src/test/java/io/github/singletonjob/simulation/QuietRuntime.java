package io.github.singletonjob.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Lets the runtime log nothing: the simulated losses are too many.
 */
class QuietRuntime implements BeforeAllCallback, AfterAllCallback {

	private static final Logger RUNTIME = (Logger) LoggerFactory.getLogger("io.github.singletonjob.runtime");

	@Override
	public void beforeAll(ExtensionContext context) {
		RUNTIME.setLevel(Level.OFF);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		RUNTIME.setLevel(null);
	}

}
