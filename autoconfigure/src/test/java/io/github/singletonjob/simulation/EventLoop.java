package io.github.singletonjob.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;

import io.github.singletonjob.simulation.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time. Events happen in the order of their times, one after the other. A strand
 * that waits carries the loop on until its own time has come, so threads are switched
 * only where strands really overlap.
 */
final class EventLoop implements AutoCloseable {

	private final PriorityQueue<Event> events = new PriorityQueue<>();

	private final Deque<Strand> idle = new ArrayDeque<>();

	private final List<Strand> strands = new ArrayList<>();

	private final Semaphore finished = new Semaphore(0);

	private final List<Throwable> failures = new ArrayList<>();

	private long now;

	private long sequence;

	private boolean instant;

	/** Nanoseconds since the beginning of the schedule. */
	long now() {
		return this.now;
	}

	/** Whether what executes now is an event that must not wait. */
	boolean isInstant() {
		return this.instant;
	}

	Event instant(long due, @Nullable SimulatedProcess owner, Runnable action) {
		return add(new Event(Kind.INSTANT, due, this.sequence++, owner, action, null));
	}

	Event timer(long due, SimulatedProcess owner, Runnable action) {
		return add(new Event(Kind.TIMER, due, this.sequence++, owner, action, null));
	}

	Event task(long due, SimulatedProcess owner, Runnable action) {
		return add(new Event(Kind.TASK, due, this.sequence++, owner, action, null));
	}

	private Event add(Event event) {
		this.events.add(event);
		return event;
	}

	/** Lets the calling strand wait. */
	void sleep(SimulatedProcess owner, long until, boolean interruptible) {
		Strand strand = Strand.current();
		Event wake = add(new Event(Kind.WAKE, until, this.sequence++, owner, null, strand));
		strand.fallAsleep(interruptible ? wake : null);
		carryOn(strand);
		strand.wakeUp();
		if (owner.isGone()) {
			throw new Crash();
		}
	}

	/** Makes an event happen now. */
	void hurry(Event event) {
		if (event.due > this.now && this.events.remove(event)) {
			event.due = this.now;
			this.events.add(event);
		}
	}

	/** Moves the timers of a process whose monotonic clock has stood still. */
	void postponeTimers(SimulatedProcess owner, long nanos) {
		List<Event> late = this.events.stream()
			.filter((event) -> event.kind == Kind.TIMER && event.owner == owner)
			.toList();
		this.events.removeAll(late);
		late.forEach((event) -> event.due += nanos);
		this.events.addAll(late);
	}

	void failed(Throwable failure) {
		this.failures.add(failure);
	}

	/** Lets everything happen until nothing is left, and answers what failed. */
	List<Throwable> run() {
		idleStrand().assign(null);
		this.finished.acquireUninterruptibly();
		List<Throwable> failed = List.copyOf(this.failures);
		this.failures.clear();
		this.now = 0;
		this.sequence = 0;
		return failed;
	}

	/** For a strand that has nothing to do but to carry the loop on. */
	void idle(Strand strand) {
		Event event;
		while ((event = nextForStrand()) != null) {
			if (event.kind == Kind.WAKE) {
				this.idle.push(strand);
				Objects.requireNonNull(event.sleeper).passBaton();
				return;
			}
			perform(Objects.requireNonNull(event.action));
		}
		this.idle.push(strand);
		this.finished.release();
	}

	/** For a strand that waits: returns when its own time has come. */
	private void carryOn(Strand strand) {
		Event event = Objects.requireNonNull(nextForStrand(), "a strand sleeps and nothing wakes it");
		if (event.sleeper == strand) {
			return;
		}
		if (event.kind == Kind.WAKE) {
			Objects.requireNonNull(event.sleeper).passBaton();
		}
		else {
			idleStrand().assign(event.action);
		}
		strand.awaitBaton();
	}

	/** Performs a task on the calling strand. */
	void perform(Runnable task) {
		try {
			task.run();
		}
		catch (Crash ex) {
			// Its process is gone, and so is this task
		}
		catch (Throwable ex) {
			failed(ex);
		}
		finally {
			Strand.current().clear();
		}
	}

	/** Performs what needs no strand, and answers the next event that does. */
	private @Nullable Event nextForStrand() {
		Event event;
		while ((event = this.events.poll()) != null) {
			SimulatedProcess owner = event.owner;
			boolean gone = owner != null && owner.isGone();
			if (owner != null && !gone && owner.pausedUntil() > Math.max(this.now, event.due)) {
				event.due = owner.pausedUntil();
				this.events.add(event);
				continue;
			}
			this.now = Math.max(this.now, event.due);
			if (event.kind == Kind.WAKE) {
				return event;
			}
			if (event.cancelled || gone) {
				continue;
			}
			if (event.kind == Kind.TASK) {
				return event;
			}
			performInstantly(Objects.requireNonNull(event.action));
		}
		return null;
	}

	private void performInstantly(Runnable action) {
		this.instant = true;
		try {
			action.run();
		}
		catch (Throwable ex) {
			failed(ex);
		}
		finally {
			this.instant = false;
		}
	}

	private Strand idleStrand() {
		Strand known = this.idle.poll();
		if (known != null) {
			return known;
		}
		Strand strand = new Strand(this, "strand-" + this.strands.size());
		this.strands.add(strand);
		strand.start();
		return strand;
	}

	@Override
	public void close() {
		this.strands.forEach(Strand::end);
	}

}
