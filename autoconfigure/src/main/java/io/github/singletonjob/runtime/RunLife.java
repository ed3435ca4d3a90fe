package io.github.singletonjob.runtime;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import org.jspecify.annotations.Nullable;

/**
 * How a run goes on and ends. It is open until the first of: lost, cancelled, or its body
 * has ended. That first end stays: a run that was lost before its body ended can never
 * end as completed. A body that was told can still take its time; its lease is kept until
 * it has ended, unless it is lost.
 */
final class RunLife {

	private final LeaseDeadline deadline;

	private final OnLost onLost;

	private final Consumer<RunEnd> told;

	private final InterruptGate gate = new InterruptGate();

	private final AtomicReference<@Nullable RunEnd> end = new AtomicReference<>();

	/** Why nothing can be committed any more; a cancelled run still can. */
	private final AtomicReference<@Nullable RunEnd> closed = new AtomicReference<>();

	private final CompletableFuture<RunEnd> ended = new CompletableFuture<>();

	private volatile boolean threadLeft;

	private volatile boolean bodyEnded;

	private volatile boolean heldOn;

	/**
	 * Begins the life of a run.
	 * @param deadline the deadline of its lease
	 * @param onLost how the thread of its body is told of an end
	 * @param told is told next; not of an end that is the body's own
	 */
	RunLife(LeaseDeadline deadline, OnLost onLost, Consumer<RunEnd> told) {
		this.deadline = deadline;
		this.onLost = onLost;
		this.told = told;
	}

	/** How the run ended, or null while it is open; a cancelled one has ended. */
	@Nullable RunEnd firstEnd() {
		return this.end.get();
	}

	/** Why nothing can be committed any more, or null while something can. */
	@Nullable RunEnd closed() {
		return this.closed.get();
	}

	/** Lets nothing be committed from here on, although the body may go on. */
	boolean close(RunEnd reason) {
		return this.closed.compareAndSet(null, reason);
	}

	/**
	 * Ends the run unless it has ended already, and tells its thread. A run that is lost
	 * after it was cancelled stays cancelled, and can commit nothing any more.
	 */
	boolean end(RunEnd reason) {
		boolean lost = reason.outcome() == RunOutcome.LOST && close(reason);
		boolean first = this.end.compareAndSet(null, reason);
		if (first && this.onLost == OnLost.INTERRUPT) {
			this.gate.interrupt();
		}
		if (first) {
			this.ended.complete(reason);
		}
		if (first || lost) {
			this.told.accept(reason);
		}
		return first;
	}

	/** Completed when the run ends, on the thread that ends it. */
	CompletableFuture<RunEnd> ended() {
		return this.ended;
	}

	/** Whether the lease is to be renewed, although the body has ended. */
	void holdOn(boolean on) {
		this.heldOn = on;
	}

	/** Whether the lease is to be renewed: also for a cancelled body that still runs. */
	boolean isKept() {
		RunEnd over = this.closed.get();
		return (!this.bodyEnded || this.heldOn) && (over == null || over.outcome() != RunOutcome.LOST);
	}

	/** Whether the thread of the body was interrupted, and still executes the body. */
	boolean isInterrupted() {
		return this.gate.isInterrupted();
	}

	boolean hasBodyEnded() {
		return this.bodyEnded;
	}

	/** Lets no interrupt through to the calling thread any more; the body goes on. */
	boolean leaveThread() {
		this.threadLeft = true;
		return this.gate.close();
	}

	/** Whether the body goes on, or ends, on another thread than it began on. */
	boolean hasLeftThread() {
		return this.threadLeft;
	}

	/**
	 * Lets no interrupt through any more.
	 * @return whether the thread of the body was interrupted by us
	 */
	boolean closeForInterrupts() {
		return this.gate.close();
	}

	void beginBody() {
		this.gate.open();
		if (this.end.get() != null && this.onLost == OnLost.INTERRUPT) {
			this.gate.interrupt();
		}
	}

	/**
	 * Closes the run for commits.
	 * @param natural how it ends if nothing has ended it before
	 * @return how it ended, and whether that was by itself
	 */
	BodyEnd endBody(RunOutcome natural) {
		if (this.deadline.isPassed()) {
			end(new RunEnd(RunOutcome.LOST, "its lease ended unrenewed before the body did"));
		}
		RunEnd byBody = new RunEnd(natural, "it has ended (" + natural + ")");
		boolean byItself = this.end.compareAndSet(null, byBody);
		if (byItself) {
			this.ended.complete(byBody);
		}
		RunEnd first = Objects.requireNonNull(this.end.get());
		boolean unused = close(new RunEnd(first.outcome(), "it has ended (" + first.outcome() + ")"));
		this.bodyEnded = true;
		return new BodyEnd(first, byItself);
	}

}
