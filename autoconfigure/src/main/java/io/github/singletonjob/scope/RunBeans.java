package io.github.singletonjob.scope;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import io.github.singletonjob.JobRun;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectFactory;

/**
 * The beans of one run. Several threads can work for it, so the lock makes each bean
 * once.
 */
final class RunBeans {

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<String, Object> beans = new HashMap<>();

	private final Deque<Runnable> destruction = new ArrayDeque<>();

	private final JobRun run;

	private boolean ended;

	RunBeans(JobRun run) {
		this.run = run;
	}

	Object get(String name, ObjectFactory<?> factory) {
		this.lock.lock();
		try {
			if (this.ended) {
				throw over(name);
			}
			Object known = this.beans.get(name);
			if (known != null) {
				return known;
			}
			Object bean = factory.getObject();
			this.beans.put(name, bean);
			return bean;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Nullable Object remove(String name) {
		this.lock.lock();
		try {
			return this.beans.remove(name);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The callback is Spring's, which logs what the bean throws. */
	void onEnd(Runnable callback) {
		this.lock.lock();
		try {
			this.destruction.push(callback);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Destroys the beans, those that were made last first; they may use each other. */
	void end() {
		Runnable next = nextToDestroy();
		while (next != null) {
			next.run();
			next = nextToDestroy();
		}
	}

	private @Nullable Runnable nextToDestroy() {
		this.lock.lock();
		try {
			Runnable next = this.destruction.poll();
			this.ended = (next == null);
			return next;
		}
		finally {
			this.lock.unlock();
		}
	}

	private IllegalStateException over(String name) {
		return JobRunBeans.over(name, this.run);
	}

}
