package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.servers.TcpProxy;

/**
 * One run: carries out a schedule, waits until all is well again, and has the history
 * checked.
 */
final class Trial {

	private static final Duration RECOVERY = Duration.ofMinutes(3);

	private final CountDownLatch never = new CountDownLatch(1);

	private final List<Happening> happenings = new ArrayList<>();

	private final Map<Fault, Seat> targets = new HashMap<>();

	private final Map<Fault, Happening> open = new HashMap<>();

	private final Company company;

	private final Schedule schedule;

	private final List<Happening> before;

	/**
	 * Creates a run.
	 * @param company what it happens to
	 * @param schedule what happens
	 * @param before what happened in the run before: a server that had lost its way to
	 * the diary may still write of it
	 */
	Trial(Company company, Schedule schedule, List<Happening> before) {
		this.company = company;
		this.schedule = schedule;
		this.before = before;
	}

	List<Happening> happenings() {
		return this.happenings;
	}

	Verdict run() {
		Books.Mark mark = this.company.books().mark();
		long start = System.nanoTime();
		for (Step step : steps()) {
			awaitMillis(start, step.at());
			if (step.begins()) {
				begin(step.fault());
			}
			else {
				end(step.fault());
			}
		}
		Recovery recovery = new Recovery(this.company, mark);
		boolean recovered = recovery.await(RECOVERY);
		History history = this.company.books().since(mark, recovery.settled());
		List<Happening> all = new ArrayList<>(this.before);
		all.addAll(this.happenings);
		return new Checker(this.company.mode(), this.company.store(), history, all).check(recovered);
	}

	private List<Step> steps() {
		List<Step> steps = new ArrayList<>();
		for (Fault fault : this.schedule.faults()) {
			steps.add(new Step(fault.start(), true, fault));
			steps.add(new Step(fault.end(), false, fault));
		}
		steps.sort(Comparator.comparingInt(Step::at));
		return steps;
	}

	private void begin(Fault fault) {
		long from = System.currentTimeMillis();
		String server = Happening.STORE;
		if (fault.kind().place == FaultKind.Place.STORE) {
			this.company.stage().begin(fault.kind());
		}
		else {
			Seat seat = choose(fault.onHolder());
			server = seat.server();
			this.targets.put(fault, seat);
			begin(fault, seat);
		}
		this.open.put(fault, new Happening(fault.kind(), server, from, Long.MAX_VALUE));
	}

	private void begin(Fault fault, Seat seat) {
		List<TcpProxy> proxies = seat.proxies(fault.kind().isOfDatabase());
		switch (fault.kind()) {
			case FREEZE, LONG_PAUSE -> seat.process().freeze();
			case KILL -> seat.process().kill();
			case TERMINATE -> seat.process().terminate();
			case STORE_CUT, DATABASE_CUT -> proxies.forEach(TcpProxy::hang);
			case STORE_DELAY, DATABASE_DELAY ->
				proxies.forEach((proxy) -> proxy.delay(Duration.ofMillis(fault.amount())));
			case STORE_REPLIES_LOST, DATABASE_REPLIES_LOST -> proxies.forEach(TcpProxy::hangReplies);
			case STORE_REQUESTS_LOST, DATABASE_REQUESTS_LOST -> proxies.forEach(TcpProxy::hangRequests);
			case STORE_RESET, DATABASE_RESET -> proxies.forEach(TcpProxy::reset);
			case CLOCK_STEP -> seat.process().writeLine(Integer.toString(fault.amount()));
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	private void end(Fault fault) {
		Seat seat = this.targets.get(fault);
		if (seat == null) {
			this.company.stage().end(fault.kind());
		}
		else {
			end(fault, seat);
		}
		Happening begun = this.open.get(fault);
		this.happenings.add(new Happening(begun.kind(), begun.server(), begun.from(), System.currentTimeMillis()));
	}

	private static void end(Fault fault, Seat seat) {
		switch (fault.kind()) {
			case FREEZE, LONG_PAUSE -> seat.process().resume();
			case KILL, TERMINATE -> seat.start();
			case CLOCK_STEP -> seat.process().writeLine("0");
			default -> seat.proxies(fault.kind().isOfDatabase()).forEach(TcpProxy::pass);
		}
	}

	/** The seat of the holder, if it can be told, or the first other one. */
	private Seat choose(boolean holder) {
		String server = this.company.books().holder().orElse("");
		List<Seat> alive = this.company.seats().stream().filter(Seat::isAlive).toList();
		return alive.stream()
			.filter(Seat::isReady)
			.filter((seat) -> seat.server().equals(server) == holder)
			.findFirst()
			.orElseGet(() -> alive.get(0));
	}

	private void awaitMillis(long start, int millis) {
		long nanos = start + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
		try {
			if (this.never.await(nanos, TimeUnit.NANOSECONDS)) {
				throw new IllegalStateException("Nobody counts it down");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private record Step(int at, boolean begins, Fault fault) {
	}

}
