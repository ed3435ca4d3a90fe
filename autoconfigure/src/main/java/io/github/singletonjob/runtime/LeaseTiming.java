package io.github.singletonjob.runtime;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The times of a lease. They must leave room for four renewals in a row, of which three
 * get no answer.
 *
 * @param ttl how long a silent holder keeps the job
 * @param renewEvery how often the lease is renewed
 * @param stopEarly how long before the end of its lease a holder stops
 */
public record LeaseTiming(Duration ttl, Duration renewEvery, Duration stopEarly) {

	private static final Duration MIN_TTL = Duration.ofSeconds(2);

	private static final Duration MAX_TTL = Duration.ofDays(1);

	private static final Duration MIN_RENEW_EVERY = Duration.ofMillis(100);

	private static final Duration MIN_CALL_TIMEOUT = Duration.ofMillis(100);

	private static final int CALLS = 4;

	private static final Duration MIN_STOP_EARLY = Duration.ofMillis(100);

	/**
	 * Checks that the times fit together.
	 * @throws IllegalArgumentException if they do not; it says what would
	 */
	public LeaseTiming {
		require(ttl.compareTo(MIN_TTL) >= 0,
				() -> "ttl " + text(ttl) + " is too short: it must be at least " + text(MIN_TTL));
		require(ttl.compareTo(MAX_TTL) <= 0, () -> "ttl " + text(ttl) + " is too long: it can be at most "
				+ text(MAX_TTL) + ". The lease is renewed while the job runs, so the ttl need not cover the run");
		require(renewEvery.compareTo(MIN_RENEW_EVERY) >= 0, () -> "renew-every " + text(renewEvery)
				+ " is too short: it must be at least " + text(MIN_RENEW_EVERY));
		require(stopEarly.compareTo(MIN_STOP_EARLY) >= 0,
				() -> "stop-early " + text(stopEarly) + " is too short: it must be at least " + text(MIN_STOP_EARLY));
		Duration callTimeout = ttl.minus(stopEarly).minus(renewEvery).dividedBy(CALLS);
		require(callTimeout.compareTo(MIN_CALL_TIMEOUT) >= 0, () -> "ttl " + text(ttl) + ", renew-every "
				+ text(renewEvery) + " and stop-early " + text(stopEarly)
				+ " do not fit together: ttl - stop-early - renew-every must leave at least "
				+ text(MIN_CALL_TIMEOUT.multipliedBy(CALLS))
				+ ", so that three renewals may stay without an answer. Raise ttl, or leave renew-every and stop-early"
				+ " out: they default to a third and three tenths of the ttl");
	}

	/**
	 * The timing of a time to live, with defaults for what is null.
	 * @param ttl the time to live
	 * @param renewEvery null for a third of the time to live
	 * @param stopEarly null for three tenths of the time to live
	 * @return the timing
	 * @throws IllegalArgumentException if the times do not fit together
	 */
	public static LeaseTiming of(Duration ttl, @Nullable Duration renewEvery, @Nullable Duration stopEarly) {
		return new LeaseTiming(ttl, (renewEvery != null) ? renewEvery : ttl.dividedBy(3),
				(stopEarly != null) ? stopEarly : ttl.multipliedBy(3).dividedBy(10));
	}

	/**
	 * How long one call to the store may take, so that between a renewal and the deadline
	 * three may stay without an answer and a fourth one can still get its own.
	 * @return a quarter of what is left of the time to live
	 */
	public Duration callTimeout() {
		return this.ttl.minus(this.stopEarly).minus(this.renewEvery).dividedBy(CALLS);
	}

	/**
	 * How long after the sending of a confirmed request a holder relies on its lease.
	 * @return the time to live less the margin
	 */
	public Duration reliable() {
		return this.ttl.minus(this.stopEarly);
	}

	private static void require(boolean condition, java.util.function.Supplier<String> message) {
		if (!condition) {
			throw new IllegalArgumentException(message.get());
		}
	}

	private static String text(Duration duration) {
		long millis = duration.toMillis();
		return (millis % 1000 == 0) ? millis / 1000 + "s" : millis + "ms";
	}

}
