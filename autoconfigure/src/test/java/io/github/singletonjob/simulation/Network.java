package io.github.singletonjob.simulation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;

import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * What lies between the processes and the servers: requests and replies take their time,
 * get lost, or arrive twice, and a request can be executed after its caller has given up.
 */
final class Network {

	private static final long MILLI = 1_000_000;

	/** Before a request and after a reply, faults do the most harm. */
	private static final int STEP = 8;

	private final EventLoop loop;

	private final Dice dice;

	private double trouble;

	private final Map<Link, Long> downUntil = new EnumMap<>(Link.class);

	private boolean refuses;

	Network(EventLoop loop, Dice dice, double trouble) {
		this.loop = loop;
		this.dice = dice;
		this.trouble = trouble;
	}

	/** A server is down: calls hang, or are refused at once. */
	void down(Link link, long nanos, boolean refuses) {
		this.downUntil.put(link, this.loop.now() + nanos);
		this.refuses = refuses;
	}

	/** Nothing goes wrong any more. */
	void repair() {
		this.downUntil.clear();
		this.trouble = 0;
	}

	/**
	 * Calls a server from the strand of a process.
	 * @param takes how long the server needs, in nanoseconds
	 */
	<T> T call(SimulatedProcess process, Link link, Duration timeout, long takes, Supplier<T> server) {
		process.step(STEP);
		long sent = this.loop.now();
		long givesUp = sent + timeout.toNanos();
		Call<T> call = new Call<>();
		if (isDown(process, link)) {
			long wake = this.refuses ? sent + this.dice.between(0, MILLI) : givesUp;
			trouble(process, link, wake);
			this.loop.sleep(process, wake, false);
			throw unknown(link, null);
		}
		long arrives = sent + delay(timeout) + takes;
		long replied = arrives + delay(timeout);
		boolean requestLost = lost();
		boolean replyLost = requestLost || lost();
		if (!requestLost) {
			this.loop.instant(arrives, null, () -> call.execute(server));
			if (this.dice.chance(0.03 * this.trouble)) {
				replied += delay(timeout);
				this.loop.instant(this.dice.between(arrives, replied), null, () -> call.repeat(server));
			}
		}
		boolean inTime = !replyLost && replied <= givesUp;
		if (!inTime || replied - sent > timeout.toNanos() / 3) {
			trouble(process, link, givesUp);
		}
		this.loop.sleep(process, inTime ? replied : givesUp, false);
		process.step(STEP);
		if (!inTime) {
			throw unknown(link, null);
		}
		return call.answer(link);
	}

	private static void trouble(SimulatedProcess process, Link link, long until) {
		if (link == Link.STORE) {
			process.trouble(until);
		}
	}

	private boolean isDown(SimulatedProcess process, Link link) {
		return this.downUntil.getOrDefault(link, 0L) > this.loop.now() || process.cutUntil(link) > this.loop.now();
	}

	private boolean lost() {
		return this.dice.chance(0.02 * this.trouble);
	}

	private long delay(Duration timeout) {
		if (this.dice.chance(0.05 * this.trouble)) {
			return this.dice.between(0, timeout.toNanos() * 5 / 4);
		}
		return this.dice.between(MILLI / 5, 4 * MILLI);
	}

	private static LeaseStoreException unknown(Link link, @Nullable Throwable cause) {
		return new LeaseStoreException("no answer from the " + link, cause);
	}

	/** The servers. */
	enum Link {

		STORE, DATABASE

	}

	/**
	 * One request, executed once or twice.
	 */
	private static final class Call<T> {

		private @Nullable T answer;

		private @Nullable LeaseStoreException failure;

		private boolean repeated;

		void execute(Supplier<T> server) {
			try {
				this.answer = server.get();
			}
			catch (LeaseStoreException ex) {
				this.failure = ex;
			}
		}

		/** A client that repeats a release cannot tell which of the two has found it. */
		void repeat(Supplier<T> server) {
			this.repeated = true;
			execute(server);
		}

		T answer(Link link) {
			if (this.failure != null) {
				throw this.failure;
			}
			T known = this.answer;
			if (known == null || (this.repeated && Boolean.FALSE.equals(known))) {
				throw unknown(link, null);
			}
			return known;
		}

	}

}
