package io.github.singletonjob.runtime;

/**
 * The clocks of this machine.
 */
public final class SystemClock implements JobClock {

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

	@Override
	public long wallMillis() {
		return System.currentTimeMillis();
	}

}
