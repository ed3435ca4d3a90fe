package io.github.singletonjob.runtime;

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Lets the thread of a body be interrupted only while it executes the body: a thread that
 * has gone on to other work, perhaps another job's, is never hit by a late loss.
 */
final class InterruptGate {

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Thread thread;

	private boolean interrupted;

	/** Lets interrupts of the calling thread through from here on. */
	void open() {
		this.lock.lock();
		try {
			this.thread = Thread.currentThread();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Interrupts the thread if the gate is open, at most once. */
	void interrupt() {
		this.lock.lock();
		try {
			if (this.thread != null && !this.interrupted) {
				this.interrupted = true;
				this.thread.interrupt();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Whether the thread was interrupted and the gate is still open.
	 */
	boolean isInterrupted() {
		this.lock.lock();
		try {
			return this.interrupted && this.thread != null;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Lets nothing through any more.
	 * @return whether the thread was interrupted through this gate
	 */
	boolean close() {
		this.lock.lock();
		try {
			this.thread = null;
			return this.interrupted;
		}
		finally {
			this.lock.unlock();
		}
	}

}
