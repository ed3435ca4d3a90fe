package io.github.singletonjob.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.github.singletonjob.runtime.JobClock;
import io.github.singletonjob.runtime.JobTimer;
import io.github.singletonjob.simulation.Network.Link;

/**
 * One process: its clocks, its timer and its threads. While it is paused, nothing of it
 * happens, and its clocks go on; while its machine is suspended, only the wall clock
 * does. A process that is gone has no effect any more.
 */
final class SimulatedProcess implements JobClock, JobTimer, Executor {

	private static final long EPOCH_MILLIS = 1_800_000_000_000L;

	private static final long LOOK = 5_000_000;

	final String name;

	private final EventLoop loop;

	private final Faults faults;

	private final List<Pause> pauses = new ArrayList<>();

	private long monotonicOffset;

	private long wallOffset;

	private long pausedUntil;

	private long troubledUntil = Long.MIN_VALUE;

	private final Map<Link, Long> cutUntil = new EnumMap<>(Link.class);

	private boolean gone;

	SimulatedProcess(String name, EventLoop loop, Faults faults, Duration clockSkew) {
		this.name = name;
		this.loop = loop;
		this.faults = faults;
		this.monotonicOffset = faults.dice().between(0, 1L << 40);
		this.wallOffset = clockSkew.toMillis();
	}

	@Override
	public long nanoTime() {
		step(1);
		return this.loop.now() + this.monotonicOffset;
	}

	@Override
	public long wallMillis() {
		return wallMillisAt(this.loop.now());
	}

	long wallMillisAt(long time) {
		return EPOCH_MILLIS + time / 1_000_000 + this.wallOffset;
	}

	@Override
	public Runnable after(Duration delay, Runnable task) {
		if (this.gone) {
			return () -> {
			};
		}
		long late = this.faults.dice().between(0, 2_000_000);
		Event event = this.loop.timer(this.loop.now() + Math.max(0, delay.toNanos()) + late, this, task);
		return () -> event.cancelled = true;
	}

	@Override
	public void execute(Runnable task) {
		if (!this.gone) {
			this.loop.task(this.loop.now() + this.faults.dice().between(0, 1_000_000), this, task);
		}
	}

	@Override
	public void await(CompletableFuture<?> done, Duration atMost) {
		long end = this.loop.now() + atMost.toNanos();
		while (!done.isDone() && this.loop.now() < end) {
			sleep(Math.min(LOOK, end - this.loop.now()), false);
		}
	}

	/** A point at which this process can be stopped, the more often the heavier. */
	void step(int weight) {
		if (this.loop.isInstant() || !(Thread.currentThread() instanceof Strand)) {
			return;
		}
		if (this.gone) {
			throw new Crash();
		}
		this.faults.strike(this, weight);
		if (this.pausedUntil > this.loop.now()) {
			this.loop.sleep(this, this.pausedUntil, false);
		}
	}

	void sleep(long nanos, boolean interruptible) {
		this.loop.sleep(this, this.loop.now() + nanos, interruptible);
	}

	void pause(long nanos) {
		long until = this.loop.now() + nanos;
		if (until > this.pausedUntil) {
			this.pausedUntil = until;
			this.pauses.add(new Pause(this.loop.now(), until, false));
			trouble(until);
		}
	}

	/** The machine sleeps: its monotonic clock stands still. */
	void suspend(long nanos) {
		if (this.pausedUntil <= this.loop.now()) {
			pause(nanos);
			this.pauses.add(new Pause(this.loop.now(), this.pausedUntil, true));
			this.monotonicOffset -= nanos;
			this.loop.postponeTimers(this, nanos);
		}
	}

	void stepWallClock(long millis) {
		this.wallOffset += millis;
		trouble(this.loop.now());
	}

	void end() {
		this.gone = true;
	}

	boolean isGone() {
		return this.gone;
	}

	Instant nextFireTime(long interval) {
		return Instant.ofEpochMilli((wallMillisAt(this.loop.now()) / interval + 1) * interval);
	}

	/** Its connections work from now on, and so does it. */
	void repair() {
		this.cutUntil.clear();
	}

	long pausedUntil() {
		return this.pausedUntil;
	}

	/** Cuts the connection to a server. */
	void cut(Link link, long nanos) {
		this.cutUntil.put(link, this.loop.now() + nanos);
		if (link == Link.STORE) {
			trouble(this.loop.now() + nanos);
		}
	}

	long cutUntil(Link link) {
		return this.cutUntil.getOrDefault(link, 0L);
	}

	/** How long this process was paused between two moments. */
	long pausedWithin(long from, long to) {
		long paused = 0;
		for (Pause pause : this.pauses) {
			if (!pause.suspended()) {
				paused += Math.max(0, Math.min(to, pause.to()) - Math.max(from, pause.from()));
			}
		}
		return paused;
	}

	boolean wasSuspendedSince(long from) {
		return this.pauses.stream().anyMatch((pause) -> pause.suspended() && pause.to() >= from);
	}

	/** Takes note of a fault that can cost this process its leases. */
	void trouble(long until) {
		this.troubledUntil = Math.max(this.troubledUntil, until);
	}

	void trouble() {
		trouble(this.loop.now());
	}

	boolean hadTroubleSince(long time) {
		return this.troubledUntil >= time;
	}

	@Override
	public String toString() {
		return this.name;
	}

	/**
	 * A time in which nothing of a process happened.
	 */
	private record Pause(long from, long to, boolean suspended) {
	}

}
