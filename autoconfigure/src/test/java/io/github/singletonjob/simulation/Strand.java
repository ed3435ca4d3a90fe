package io.github.singletonjob.simulation;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A thread of a simulated process. Of all strands of a loop exactly one executes at any
 * moment, the one that has the baton, so a schedule does not depend on the machine. An
 * interrupt takes effect at a defined point too: when the strand goes on.
 */
final class Strand extends Thread {

	private final EventLoop loop;

	private volatile boolean baton;

	private volatile boolean over;

	private boolean interruptPending;

	private boolean asleep;

	private @Nullable Runnable task;

	private @Nullable Event interruptible;

	private @Nullable Runnable told;

	Strand(EventLoop loop, String name) {
		super(null, null, name, 0, false);
		this.loop = loop;
		setDaemon(true);
	}

	static Strand current() {
		return (Strand) Thread.currentThread();
	}

	@Override
	public void run() {
		while (awaitBaton()) {
			Runnable next = this.task;
			this.task = null;
			if (next != null) {
				this.loop.perform(next);
			}
			this.loop.idle(this);
		}
	}

	void assign(@Nullable Runnable next) {
		this.task = next;
		passBaton();
	}

	void passBaton() {
		this.baton = true;
		LockSupport.unpark(this);
	}

	void end() {
		this.over = true;
		LockSupport.unpark(this);
	}

	/** Waits until it is this strand's turn; false if there will be none. */
	boolean awaitBaton() {
		while (!this.baton && !this.over) {
			LockSupport.park(this);
		}
		this.baton = false;
		return !this.over;
	}

	/** What is to happen when somebody interrupts this strand; null if nobody may. */
	void onInterrupt(@Nullable Runnable told) {
		this.told = told;
	}

	@Override
	public void interrupt() {
		if (this.told == null) {
			this.loop.failed(new AssertionError("an interrupt hits a thread that executes no body"));
			return;
		}
		this.told.run();
		if (this.asleep) {
			this.interruptPending = true;
			if (this.interruptible != null) {
				this.loop.hurry(this.interruptible);
			}
		}
		else {
			super.interrupt();
		}
	}

	void fallAsleep(@Nullable Event wake) {
		this.interruptPending = Thread.interrupted();
		this.asleep = true;
		this.interruptible = wake;
		if (wake != null && this.interruptPending) {
			this.loop.hurry(wake);
		}
	}

	void wakeUp() {
		this.asleep = false;
		this.interruptible = null;
		if (this.interruptPending) {
			super.interrupt();
		}
	}

	/** Leaves nothing for the next task of this strand. */
	void clear() {
		this.told = null;
		boolean unused = Thread.interrupted();
	}

}
