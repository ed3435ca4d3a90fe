package io.github.singletonjob.sample.demo;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of a service that recognises idempotency keys: the effect of a key happens
 * once, and a repetition is answered as the first request was.
 */
final class RememberedRequests {

	private final String effect;

	private final Map<String, Remembered> byKey = new ConcurrentHashMap<>();

	private final AtomicLong effects = new AtomicLong();

	private final AtomicLong repetitions = new AtomicLong();

	/**
	 * Creates an empty memory.
	 * @param effect the word for one effect, with which references begin
	 */
	RememberedRequests(String effect) {
		this.effect = effect;
	}

	/**
	 * Executes a request, or recognises it.
	 * @param key the idempotency key
	 * @param request what is asked for
	 * @return the answer
	 */
	Answer answer(String key, String request) {
		Remembered fresh = new Remembered(request);
		Remembered remembered = this.byKey.computeIfAbsent(key, (absent) -> execute(fresh));
		if (remembered == fresh) {
			return new Answer(Kind.EXECUTED, fresh.reference);
		}
		if (!remembered.request.equals(request)) {
			return new Answer(Kind.MISUSED, "this key was used for another request");
		}
		this.repetitions.incrementAndGet();
		return new Answer(Kind.REPEATED, remembered.reference);
	}

	private Remembered execute(Remembered fresh) {
		fresh.reference = this.effect + "-" + this.effects.incrementAndGet();
		return fresh;
	}

	long effects() {
		return this.effects.get();
	}

	long repetitions() {
		return this.repetitions.get();
	}

	/**
	 * What became of a request.
	 */
	enum Kind {

		/** The key was new, the effect has happened. */
		EXECUTED,

		/** The key and the request are known; nothing happened. */
		REPEATED,

		/** The key is known for another request; nothing happened. */
		MISUSED

	}

	/**
	 * An answer.
	 *
	 * @param kind what became of the request
	 * @param text the reference of the effect, or what was wrong
	 */
	record Answer(Kind kind, String text) {
	}

	private static final class Remembered {

		private final String request;

		private String reference = "";

		Remembered(String request) {
			this.request = request;
		}

	}

}
