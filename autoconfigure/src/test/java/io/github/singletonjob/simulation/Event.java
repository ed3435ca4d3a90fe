package io.github.singletonjob.simulation;

import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * Something that happens at a virtual time.
 */
final class Event implements Comparable<Event> {

	private static final Comparator<Event> ORDER = Comparator.<Event>comparingLong((event) -> event.due)
		.thenComparingLong((event) -> event.sequence);

	final Kind kind;

	final long sequence;

	final @Nullable SimulatedProcess owner;

	final @Nullable Runnable action;

	final @Nullable Strand sleeper;

	long due;

	boolean cancelled;

	Event(Kind kind, long due, long sequence, @Nullable SimulatedProcess owner, @Nullable Runnable action,
			@Nullable Strand sleeper) {
		this.kind = kind;
		this.due = due;
		this.sequence = sequence;
		this.owner = owner;
		this.action = action;
		this.sleeper = sleeper;
	}

	@Override
	public int compareTo(Event other) {
		return ORDER.compare(this, other);
	}

	/** What an event does. */
	enum Kind {

		/** Outside of the runtime; never waits. */
		INSTANT,

		/** A task of the runtime's timer; never waits. */
		TIMER,

		/** A task that may wait, so it needs a strand. */
		TASK,

		/** A strand goes on that has waited. */
		WAKE

	}

}
