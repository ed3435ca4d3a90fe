package io.github.singletonjob.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.github.singletonjob.lease.FireTimes;

/**
 * One schedule: everything that happens in it follows from its seed.
 */
final class Simulation {

	private static final long SECOND = 1_000_000_000L;

	private static final long LONGEST_CALM = 900 * SECOND;

	/** In checks: longer than a stand-by pauses at most. */
	private static final int LONGEST_BACK_OFF = 25;

	private final World world;

	private final Faults faults;

	private final List<Application> applications = new ArrayList<>();

	private int processes;

	private int idleChecks;

	private Simulation(EventLoop loop, long seed, Flaw flaw, boolean tracing) {
		Dice dice = new Dice(seed);
		this.world = World.create(Plan.roll(dice, flaw), loop, dice, tracing);
		this.faults = new Faults(this.world, this);
	}

	static Report run(EventLoop loop, long seed, Flaw flaw, boolean tracing) {
		return new Simulation(loop, seed, flaw, tracing).run();
	}

	private Report run() {
		Plan plan = this.world.plan();
		this.world.history().note(plan);
		for (int i = 0; i < plan.instances(); i++) {
			this.world.loop().instant(0, null, this::start);
		}
		this.faults.plan();
		this.world.loop().instant(plan.faultsEnd(), null, this::calmDown);
		List<Throwable> failures = this.world.loop().run();
		Set<String> violations = new LinkedHashSet<>(this.world.history().violations());
		failures.forEach((failure) -> violations.add("failure: " + failure));
		return new Report(violations, failures, this.world.history().trace(), this.world.history().begun().size());
	}

	private void start() {
		this.processes++;
		long skew = this.world.dice().between(0, this.world.plan().interval().toMillis() / 3);
		SimulatedProcess process = new SimulatedProcess("server-" + this.processes, this.world.loop(), this.faults,
				Duration.ofMillis(skew));
		Application application = new Application(this.world, process);
		this.applications.add(application);
		application.start();
	}

	SimulatedProcess anyProcess() {
		List<Application> living = living();
		return living.isEmpty() ? this.applications.get(0).process
				: living.get((int) this.world.dice().between(0, living.size() - 1)).process;
	}

	private List<Application> living() {
		return this.applications.stream().filter(Application::isGoing).toList();
	}

	void killAndRestart(SimulatedProcess process) {
		of(process).kill();
		restartLater();
	}

	void stopAndRestart(SimulatedProcess process) {
		if (!process.isGone()) {
			of(process).terminate();
			restartLater();
		}
	}

	private void restartLater() {
		if (this.world.dice().chance(0.7)) {
			long later = this.world.dice().between(0, 3 * this.world.plan().ttl());
			this.world.loop().instant(this.world.loop().now() + later, null, this::start);
		}
	}

	private Application of(SimulatedProcess process) {
		return this.applications.stream()
			.filter((application) -> application.process == process)
			.findFirst()
			.orElseThrow();
	}

	/** From here on nothing goes wrong, and what was started has to be finished. */
	private void calmDown() {
		this.world.history().note("nothing goes wrong any more");
		this.world.network().repair();
		this.applications.forEach((application) -> application.process.repair());
		if (living().isEmpty()) {
			start();
		}
		awaitQuiet();
	}

	private void awaitQuiet() {
		FireTimes known = this.world.plan().takeover()
				? this.world.database().fireTimes().and(this.world.store().fireTimes()) : FireTimes.NONE;
		boolean working = this.world.history().begun().stream().anyMatch(RunHistory::isWorking);
		boolean idle = !working && this.world.store().isFree();
		boolean late = this.world.loop().now() > this.world.plan().faultsEnd() + LONGEST_CALM;
		this.idleChecks = idle ? this.idleChecks + 1 : 0;
		if (late || (known.open().isEmpty() && this.idleChecks >= 3)) {
			this.world.history().require(!late, this.world.store(), "the job does not come to rest");
			this.world.history().finish();
			this.applications.forEach((application) -> application.process.end());
			return;
		}
		if (known.open().isPresent() && this.idleChecks == LONGEST_BACK_OFF) {
			finishByFiring(known.open().get());
		}
		this.world.loop().instant(this.world.loop().now() + 3 * SECOND, null, this::awaitQuiet);
	}

	/**
	 * A fire time that was started when all living instances had done with theirs is left
	 * to the next firing. All others have somebody who stands by.
	 */
	private void finishByFiring(Instant open) {
		History history = this.world.history();
		long started = history.started(open);
		this.applications
			.forEach((application) -> history.require(history.wasRecorded(open) || !application.knowsOf(started),
					application.process, "leaves a fire time open that it knows of"));
		living().forEach(Application::fireOnceMore);
	}

	/**
	 * What came out.
	 *
	 * @param violations the promises that were broken
	 * @param failures what was thrown where nothing may be
	 * @param trace what happened, if it was asked for
	 * @param bodies how many bodies have begun
	 */
	record Report(Set<String> violations, List<Throwable> failures, String trace, int bodies) {
	}

}
