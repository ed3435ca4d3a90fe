package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Watches leases on a connection of its own. A release is notified by whoever releases. A
 * session that dies notifies nobody, so the locks are looked at a few times in a second,
 * too: all in one query, at moments that differ between instances.
 */
final class WatchLoop {

	private static final Log logger = LogFactory.getLog(WatchLoop.class);

	private static final int LONGEST_PAUSE = 500;

	private static final long LINGER_NANOS = Duration.ofSeconds(2).toNanos();

	private static final int LONGEST_BACK_OFF = 10_000;

	private final CountDownLatch ending = new CountDownLatch(1);

	private final LeaseWatches watches;

	private final SessionSource source;

	private final String applicationName;

	private final Thread thread;

	private volatile @Nullable WatchConnection connection;

	private int failures;

	WatchLoop(LeaseWatches watches, SessionSource source, String applicationName) {
		this.watches = watches;
		this.source = source;
		this.applicationName = applicationName;
		// Inherits nothing from the thread of whoever stands by first
		this.thread = new Thread(null, this::live, "singleton-job-postgres-watch", 0, false);
		this.thread.setDaemon(true);
		this.thread.setContextClassLoader(getClass().getClassLoader());
	}

	void start() {
		this.thread.start();
	}

	/** Ends it, also while it waits for a reply. */
	void end(Duration patience) {
		this.ending.countDown();
		WatchConnection current = this.connection;
		if (current != null) {
			current.close();
		}
		try {
			this.thread.join(patience.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isEnding() {
		return this.ending.getCount() == 0;
	}

	private void live() {
		try {
			boolean ended = false;
			while (!ended) {
				ended = watchOnce();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.watches.failed(this);
		}
	}

	/** Answers whether it is over, rather than to be tried again. */
	private boolean watchOnce() throws InterruptedException {
		try (WatchConnection opened = WatchConnection.open(this.source, this.applicationName + " watch")) {
			this.connection = opened;
			watch(opened);
			return true;
		}
		catch (SQLException | RuntimeException | Error ex) {
			return isEnding() || backOff(ex) || this.watches.endIfUnused();
		}
		finally {
			this.connection = null;
		}
	}

	private boolean backOff(Throwable cause) throws InterruptedException {
		int pause = Math.min(LONGEST_BACK_OFF, LONGEST_PAUSE << Math.min(this.failures, 10));
		String message = "Leases in Postgres cannot be watched for the moment, stand-bys look by themselves: "
				+ ((cause instanceof SQLException failure) ? SqlFailure.explain(failure) : cause);
		if (this.failures == 0) {
			logger.warn(message);
		}
		else {
			logger.debug(message, cause);
		}
		this.failures++;
		return this.ending.await(jittered(pause), TimeUnit.MILLISECONDS);
	}

	private static int jittered(int longest) {
		return ThreadLocalRandom.current().nextInt(longest / 2, longest + 1);
	}

	private void watch(WatchConnection opened) throws SQLException, InterruptedException {
		this.watches.all().forEach(Watched::suspect);
		long used = System.nanoTime();
		long nextLook = used;
		while (!isEnding()) {
			long now = System.nanoTime();
			if (!this.watches.isEmpty()) {
				used = now;
			}
			else if (now - used >= LINGER_NANOS && this.watches.endIfUnused()) {
				return;
			}
			if (now - nextLook >= 0) {
				look(opened);
				this.failures = 0;
				nextLook = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(jittered(LONGEST_PAUSE));
			}
			listen(opened, nextLook);
		}
	}

	private void look(WatchConnection opened) throws SQLException {
		Set<Long> keys = this.watches.all().stream().map(Watched::lockKey).collect(Collectors.toSet());
		if (!keys.isEmpty()) {
			Set<Long> held = opened.held(keys);
			// Those that were added in the meantime were not asked for
			forEach((watch) -> keys.contains(watch.lockKey()),
					(watch, now) -> watch.seen(held.contains(watch.lockKey()), now));
		}
	}

	private void listen(WatchConnection opened, long until) throws SQLException, InterruptedException {
		long millis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
		Set<String> released = opened.await((int) Math.max(1, Math.min(LONGEST_PAUSE, millis)));
		if (!released.isEmpty()) {
			forEach((watch) -> released.contains(String.valueOf(watch.lockKey())), Watched::released);
		}
	}

	private void forEach(Predicate<Watched> concerned, BiConsumer<Watched, Long> action) {
		for (Watched watch : this.watches.all()) {
			if (concerned.test(watch) && this.watches.contains(watch)) {
				action.accept(watch, System.nanoTime());
			}
		}
	}

}
