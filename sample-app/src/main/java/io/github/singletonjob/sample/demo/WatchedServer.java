package io.github.singletonjob.sample.demo;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;

import io.github.singletonjob.sample.demo.ServerState.Condition;

/**
 * What has been seen of one server so far.
 */
final class WatchedServer {

	/**
	 * How long a server that was woken gets for the writes that it still believes in.
	 */
	private static final Duration TIME_TO_TRY = Duration.ofSeconds(2);

	private Condition condition = Condition.STARTING;

	private Instant since = Instant.MIN;

	/** The token with which it was frozen while it billed; 0 if it was not billing. */
	private long token;

	private boolean unchecked;

	Condition condition() {
		return this.condition;
	}

	long token() {
		return this.token;
	}

	void ready(Instant now) {
		change(Condition.RUNNING, now);
	}

	void freeze(long token, Instant now) {
		change(Condition.FROZEN, now);
		this.token = token;
	}

	/**
	 * Notes that the server is awake.
	 * @param now the time
	 * @return how long it was frozen
	 */
	Duration wake(Instant now) {
		Duration frozen = Duration.between(this.since, now);
		change(Condition.RUNNING, now);
		this.unchecked = this.token > 0;
		return frozen;
	}

	void end(Instant now) {
		change(Condition.ENDED, now);
		this.unchecked = false;
	}

	private void change(Condition condition, Instant now) {
		this.condition = condition;
		this.since = now;
	}

	/**
	 * The token to check, once, when the server has been awake for a while.
	 * @param now the time
	 * @return the token with which it was frozen, if it is time to check it
	 */
	OptionalLong tokenToCheck(Instant now) {
		if (!this.unchecked || this.condition != Condition.RUNNING || now.isBefore(this.since.plus(TIME_TO_TRY))) {
			return OptionalLong.empty();
		}
		this.unchecked = false;
		return OptionalLong.of(this.token);
	}

}
