package io.github.singletonjob.chaos;

import java.util.Locale;

/**
 * What stands between a stale holder and the books.
 */
enum Mode {

	/** The library as it is. */
	FENCED(ChaosServer.class, true),

	/** The library with its fence switched off: a control. */
	UNFENCED(ChaosServer.class, false),

	/** ShedLock in its place: another control. */
	SHEDLOCK(ShedLockServer.class, false);

	final Class<?> server;

	final boolean fencing;

	Mode(Class<?> server, boolean fencing) {
		this.server = server;
		this.fencing = fencing;
	}

	boolean isControl() {
		return this != FENCED;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
