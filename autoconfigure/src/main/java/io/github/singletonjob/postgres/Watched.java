package io.github.singletonjob.postgres;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * One registration of somebody who stands by. Told once when the lease becomes free, and
 * again from time to time while it stays so, because whoever was told may have been
 * unlucky. Used by the watching thread alone.
 */
final class Watched {

	private static final Log logger = LogFactory.getLog(Watched.class);

	private static final long AGAIN_NANOS = Duration.ofSeconds(2).toNanos();

	private final long lockKey;

	private final Runnable freed;

	private boolean held = true;

	private long told;

	Watched(long lockKey, Runnable freed) {
		this.lockKey = lockKey;
		this.freed = freed;
	}

	long lockKey() {
		return this.lockKey;
	}

	/** What was not seen since the last look may have been anything. */
	void suspect() {
		this.held = true;
	}

	/** Somebody has released it, and perhaps another has it already. */
	void released(long now) {
		this.held = false;
		tell(now);
	}

	void seen(boolean isHeld, long now) {
		if (!isHeld && (this.held || now - this.told >= AGAIN_NANOS)) {
			tell(now);
		}
		this.held = isHeld;
	}

	private void tell(long now) {
		this.told = now;
		try {
			this.freed.run();
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A stand-by could not be told that a lease may be free; it looks by itself", ex);
		}
	}

}
