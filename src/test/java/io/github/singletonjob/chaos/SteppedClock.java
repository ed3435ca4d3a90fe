package io.github.singletonjob.chaos;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The system's clock, until it is stepped.
 */
final class SteppedClock extends Clock {

	private volatile Duration offset = Duration.ZERO;

	void stepTo(Duration offset) {
		this.offset = offset;
	}

	@Override
	public Instant instant() {
		return Instant.now().plus(this.offset);
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

}
