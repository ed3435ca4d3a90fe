package io.github.singletonjob.scope;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.github.singletonjob.JobRun;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectFactory;

/**
 * The beans of one run. Several threads can work for it, so a lock for each bean makes
 * that once; none is held while another bean is made, which can need other threads.
 */
final class RunBeans {

	private static final Duration LONGEST_CREATION = Duration.ofMinutes(1);

	private final ReentrantLock state = new ReentrantLock();

	private final Map<String, Object> beans = new HashMap<>();

	private final Map<String, ReentrantLock> creations = new HashMap<>();

	private final Deque<Runnable> destruction = new ArrayDeque<>();

	private final JobRun run;

	private boolean ended;

	RunBeans(JobRun run) {
		this.run = run;
	}

	Object get(String name, ObjectFactory<?> factory) {
		ReentrantLock creation;
		this.state.lock();
		try {
			Object known = find(name);
			if (known != null) {
				return known;
			}
			creation = this.creations.computeIfAbsent(name, (key) -> new ReentrantLock());
		}
		finally {
			this.state.unlock();
		}
		lock(creation, name);
		try {
			return create(name, factory);
		}
		finally {
			creation.unlock();
		}
	}

	private void lock(ReentrantLock creation, String name) {
		boolean locked;
		try {
			locked = creation.tryLock(LONGEST_CREATION.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("The thread was interrupted while it waited for the bean '" + name
					+ "', which another thread of the run creates", ex);
		}
		if (!locked) {
			throw new IllegalStateException(
					"The bean '" + name + "' has not been created within " + LONGEST_CREATION.toSeconds()
							+ " s by another thread of the run: do two beans wait for each other?");
		}
	}

	private Object create(String name, ObjectFactory<?> factory) {
		Object known = locked(() -> find(name));
		if (known != null) {
			return known;
		}
		Object bean = factory.getObject();
		locked(() -> this.beans.put(name, bean));
		return bean;
	}

	private @Nullable Object find(String name) {
		if (this.ended) {
			throw JobRunBeans.over(name, this.run);
		}
		return this.beans.get(name);
	}

	@Nullable Object remove(String name) {
		return locked(() -> this.beans.remove(name));
	}

	/** The callback is Spring's, which logs what the bean throws. */
	void onEnd(Runnable callback) {
		this.state.lock();
		try {
			this.destruction.push(callback);
		}
		finally {
			this.state.unlock();
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
		this.state.lock();
		try {
			Runnable next = this.destruction.poll();
			this.ended = (next == null);
			return next;
		}
		finally {
			this.state.unlock();
		}
	}

	private @Nullable Object locked(Supplier<@Nullable Object> action) {
		this.state.lock();
		try {
			return action.get();
		}
		finally {
			this.state.unlock();
		}
	}

}
