package io.github.singletonjob.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.singletonjob.chaos.Schedule.Fault;
import io.github.singletonjob.servers.TcpProxy;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * One run: carries out a schedule, waits until all is well again, and has the history
 * checked.
 */
final class Trial {

	private static final Duration RECOVERY = Duration.ofMinutes(3);

	private static final Duration POLL = Duration.ofMillis(100);

	private static final Duration LAST_STOP = Duration.ofSeconds(20);

	/** Longer than a commit takes. */
	private static final Duration COMMITTED = Duration.ofMillis(300);

	private final CountDownLatch never = new CountDownLatch(1);

	private final List<History.Fault> faults;

	private final Map<Fault, ServerSlot> targets = new HashMap<>();

	private final Map<Fault, History.Fault> open = new HashMap<>();

	private final Deployment deployment;

	private final Schedule schedule;

	private final Ledger.Mark mark;

	private final int before;

	/** Until when all that was begun is known to have been completed. */
	private long settled = Long.MAX_VALUE;

	/**
	 * Creates a run.
	 * @param deployment what it happens to
	 * @param schedule what happens
	 * @param before what happened in the run before, and may still have consequences
	 */
	Trial(Deployment deployment, Schedule schedule, List<History.Fault> before) {
		this.deployment = deployment;
		this.schedule = schedule;
		this.faults = new ArrayList<>(before);
		this.before = before.size();
		deployment.prepare(schedule);
		this.mark = deployment.ledger().mark();
	}

	/** What was done. */
	List<History.Fault> faults() {
		return List.copyOf(this.faults.subList(this.before, this.faults.size()));
	}

	Verdict run() {
		long start = System.nanoTime();
		Stream<Step> begins = this.schedule.faults().stream().map((fault) -> new Step(fault.start(), true, fault));
		Stream<Step> ends = this.schedule.faults().stream().map((fault) -> new Step(fault.end(), false, fault));
		Stream.concat(begins, ends).sorted(Comparator.comparingInt(Step::at)).forEach((step) -> {
			awaitMillis(start, step.at());
			if (step.begins()) {
				begin(step.fault());
			}
			else {
				end(step.fault());
			}
		});
		boolean recovered = awaitRecovery();
		return checker().check(recovered);
	}

	private void begin(Fault fault) {
		long from = System.currentTimeMillis();
		String server = History.Fault.ALL;
		if (fault.kind().place == FaultKind.Place.BACKEND) {
			this.deployment.begin(fault.kind());
		}
		else {
			ServerSlot slot = choose(fault.onHolder());
			server = slot.server();
			this.targets.put(fault, slot);
			begin(fault, slot);
		}
		this.open.put(fault, new History.Fault(fault.kind(), server, from, Long.MAX_VALUE));
	}

	private static void begin(Fault fault, ServerSlot slot) {
		List<TcpProxy> proxies = slot.proxies(fault.kind());
		switch (fault.kind()) {
			case FREEZE, LONG_PAUSE -> slot.process().freeze();
			case KILL -> slot.process().kill();
			case TERMINATE -> slot.process().terminate();
			case STORE_CUT, DATABASE_CUT, BOTH_CUT -> proxies.forEach(TcpProxy::hang);
			case STORE_DELAY, DATABASE_DELAY ->
				proxies.forEach((proxy) -> proxy.delay(Duration.ofMillis(fault.amount())));
			case STORE_REPLIES_LOST, DATABASE_REPLIES_LOST -> proxies.forEach(TcpProxy::hangReplies);
			case STORE_REQUESTS_LOST, DATABASE_REQUESTS_LOST -> proxies.forEach(TcpProxy::hangRequests);
			case STORE_RESET, DATABASE_RESET, BOTH_RESET -> proxies.forEach(TcpProxy::reset);
			case CLOCK_STEP -> slot.process().writeLine(Integer.toString(fault.amount()));
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	private void end(Fault fault) {
		ServerSlot slot = this.targets.get(fault);
		if (slot == null) {
			this.deployment.end(fault.kind());
		}
		else {
			end(fault, slot);
		}
		History.Fault begun = this.open.get(fault);
		this.faults.add(new History.Fault(begun.kind(), begun.server(), begun.from(), System.currentTimeMillis()));
	}

	private static void end(Fault fault, ServerSlot slot) {
		switch (fault.kind()) {
			case FREEZE, LONG_PAUSE -> slot.process().resume();
			case KILL, TERMINATE -> slot.start();
			case CLOCK_STEP -> slot.process().writeLine("0");
			default -> slot.proxies(fault.kind()).forEach(TcpProxy::pass);
		}
	}

	/** The slot of the holder, if it can be told, or the first other one. */
	private ServerSlot choose(boolean holder) {
		String server = this.deployment.ledger().holder().orElse("");
		List<ServerSlot> alive = this.deployment.slots().stream().filter(ServerSlot::isAlive).toList();
		return alive.stream()
			.filter(ServerSlot::isReady)
			.filter((slot) -> slot.server().equals(server) == holder)
			.findFirst()
			.orElseGet(() -> alive.get(0));
	}

	/**
	 * Waits until the faults are over for all: the servers are up, the job goes on, no
	 * body of an older run is still at work, no fire time is open.
	 */
	boolean awaitRecovery() {
		long since = System.currentTimeMillis();
		try {
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(POLL)
				.atMost(RECOVERY)
				.ignoreExceptionsMatching((ex) -> ex instanceof IllegalStateException)
				.until(() -> hasRecovered(since));
			return true;
		}
		catch (ConditionTimeoutException ex) {
			return false;
		}
		finally {
			this.deployment.slots().forEach((slot) -> slot.dismissFormer(LAST_STOP));
		}
	}

	private boolean hasRecovered(long since) {
		List<ServerSlot> slots = this.deployment.slots();
		Ledger ledger = this.deployment.ledger();
		slots.forEach(ServerSlot::restartIfEnded);
		if (!slots.stream().allMatch(ServerSlot::isReady) || !ledger.hasBilledSince(since)
				|| ledger.olderBodies(this.mark, slots.stream().map(ServerSlot::server).toList()) > 0) {
			return false;
		}
		this.settled = System.currentTimeMillis() - COMMITTED.toMillis();
		return checker().openFireTimes().isEmpty();
	}

	private Checker checker() {
		return new Checker(this.deployment.mode(), this.deployment.kind(),
				this.deployment.ledger().since(this.mark, this.faults, this.settled));
	}

	private void awaitMillis(long start, int millis) {
		long nanos = start + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
		try {
			if (this.never.await(nanos, TimeUnit.NANOSECONDS)) {
				throw new IllegalStateException("Nothing counts it down");
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
