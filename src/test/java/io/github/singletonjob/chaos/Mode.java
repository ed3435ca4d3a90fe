package io.github.singletonjob.chaos;

import java.util.List;
import java.util.Locale;

/**
 * What stands between a stale holder and the books.
 */
enum Mode {

	/** The library as it is. */
	FENCED(ChaosServer.class, List.of()),

	/** The library with its fence switched off: a control. */
	UNFENCED(ChaosServer.class, List.of("--singleton-job.fencing.enabled=false")),

	/** ShedLock in its place: another control. */
	SHEDLOCK(ShedLockServer.class, List.of());

	final Class<?> server;

	final List<String> arguments;

	Mode(Class<?> server, List<String> arguments) {
		this.server = server;
		this.arguments = arguments;
	}

	boolean isControl() {
		return this != FENCED;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
