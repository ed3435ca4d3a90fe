package io.github.singletonjob.runtime;

/**
 * The two clocks of a machine. Deadlines live on the monotonic one; the wall clock is
 * only compared with it, because it alone goes on while a machine is suspended.
 */
public interface JobClock {

	/**
	 * The monotonic clock, as {@link System#nanoTime()}.
	 * @return nanoseconds from an arbitrary origin
	 */
	long nanoTime();

	/**
	 * The wall clock, as {@link System#currentTimeMillis()}.
	 * @return milliseconds since the epoch
	 */
	long wallMillis();

	/**
	 * Both clocks now.
	 * @return the moment
	 */
	default Moment now() {
		return new Moment(nanoTime(), wallMillis());
	}

	/**
	 * One reading of both clocks.
	 *
	 * @param nanos the monotonic clock, in nanoseconds
	 * @param wallMillis the wall clock, in milliseconds
	 */
	record Moment(long nanos, long wallMillis) {
	}

}
