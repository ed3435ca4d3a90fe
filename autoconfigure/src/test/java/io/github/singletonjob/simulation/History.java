package io.github.singletonjob.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.time.Instant;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.simulation.Lease.End;
import org.jspecify.annotations.Nullable;

/**
 * Sees everything that happens, and checks it against what the runtime promises.
 */
final class History {

	private final EventLoop loop;

	private final Plan plan;

	private final Beliefs beliefs;

	private final Map<String, RunHistory> runs = new HashMap<>();

	private final List<RunHistory> begun = new ArrayList<>();

	private final Map<Instant, Long> started = new HashMap<>();

	private final Set<Instant> begunFor = new HashSet<>();

	private final Set<Instant> recorded = new HashSet<>();

	private final Set<Instant> completed = new HashSet<>();

	private final Set<String> violations = new LinkedHashSet<>();

	private final @Nullable StringBuilder trace;

	private long highestBegun;

	History(EventLoop loop, Plan plan, boolean tracing) {
		this.loop = loop;
		this.plan = plan;
		this.trace = tracing ? new StringBuilder() : null;
		this.beliefs = new Beliefs(loop, plan, this);
	}

	void note(Object what) {
		if (this.trace != null) {
			this.trace.append(Duration.ofNanos(this.loop.now()).toMillis()).append(" ms  ").append(what).append('\n');
		}
	}

	void require(boolean kept, Object about, String broken) {
		if (!kept) {
			note("VIOLATION: " + about + ": " + broken);
			this.violations.add(broken + ": " + about + " at " + Duration.ofNanos(this.loop.now()).toMillis() + " ms");
		}
	}

	RunHistory of(LeaseGrant grant) {
		return Objects.requireNonNull(this.runs.get(grant.owner()));
	}

	void granted(Lease lease) {
		RunHistory run = new RunHistory(lease, this.loop.now());
		this.runs.put(lease.grant.owner(), run);
		GrantedFireTime fireTime = lease.grant.fireTime();
		note("granted: " + run + ((fireTime != null) ? " for " + fireTime.instant() : ""));
		if (fireTime != null) {
			this.started.putIfAbsent(fireTime.instant(), this.loop.now());
		}
	}

	void leaseEnded(Lease lease, End how) {
		RunHistory run = of(lease.grant);
		note(run + ": its lease has ended: " + how);
		run.leaseEnded = this.loop.now();
		run.leaseEnd = how;
		if (how == End.EARLY) {
			lease.process.trouble(this.loop.now());
		}
		if (how != End.RELEASED) {
			this.beliefs.leaseEnded(run);
		}
	}

	void released(LeaseGrant held, LeaseGrant by) {
		RunHistory run = of(held);
		boolean gaveUp = run.lost != RunHistory.NEVER
				&& this.loop.now() >= run.lost + this.plan.stopEarly() - Beliefs.SLACK;
		require(!run.isWorking() || gaveUp || isOverLimit(run), run,
				"released under its body" + (held.equals(by) ? "" : ", by another's release"));
	}

	/** The fire time of a run counts as completed, in the store or in the database. */
	void recorded(LeaseGrant grant, Instant fireTime) {
		RunHistory run = of(grant);
		this.recorded.add(fireTime);
		if (run.began != RunHistory.NEVER) {
			require(!run.isWorking() || isOverLimit(run), run, "recorded before the end of its body");
			require(!run.wasCutShort() || isOverLimit(run), run, "recorded as completed although it was cut short");
			require(!run.failedWithoutLease(), run, "recorded as completed although it failed when its lease had gone");
		}
	}

	private boolean isOverLimit(RunHistory run) {
		Duration limit = this.plan.settings().length().maxRun();
		return limit != null && this.loop.now() - run.granted >= limit.toNanos();
	}

	/** Whether it was recorded somewhere, even if that was forgotten since. */
	boolean wasRecorded(Instant fireTime) {
		return this.recorded.contains(fireTime);
	}

	void completedInDatabase(Instant fireTime) {
		note("completed: " + fireTime);
		this.completed.add(fireTime);
	}

	void raised(LeaseGrant grant) {
		note("raised: " + of(grant));
	}

	void committed(LeaseGrant grant) {
		require(grant.token() >= this.highestBegun, of(grant), "committed after the body of a newer run had begun");
	}

	RunHistory began(LeasedRun leased) {
		RunHistory run = of(leased.grant());
		note("begins: " + run + leased.fireTime().map((time) -> " for " + time).orElse(""));
		run.run = leased;
		run.began = this.loop.now();
		if (run.leaseEnded == RunHistory.NEVER) {
			leased.fireTime()
				.ifPresent((time) -> require(!this.completed.contains(time), run, "begins for a completed fire time"));
		}
		else {
			this.beliefs.leaseEnded(run);
		}
		leased.fireTime()
			.ifPresent((time) -> require(this.begunFor.add(time) || this.plan.takeover(), run,
					"begins for a fire time that was started, without takeover"));
		this.begun.add(run);
		this.highestBegun = Math.max(this.highestBegun, run.lease.token());
		return run;
	}

	void ended(RunHistory run) {
		run.ended = this.loop.now();
		note("ended: " + run);
		if (!run.stubborn) {
			this.begun.stream()
				.filter((newer) -> newer.lease.token() > run.lease.token())
				.mapToLong((newer) -> newer.began)
				.min()
				.ifPresent((began) -> this.beliefs.overlapped(run, Math.max(run.began, began)));
		}
	}

	void told(RunHistory run) {
		note("told: " + run);
		run.told = Math.min(run.told, this.loop.now());
	}

	void cancelled(SimulatedProcess process) {
		this.begun.stream()
			.filter((run) -> run.process() == process && run.isWorking())
			.forEach((run) -> run.cutShort = Math.min(run.cutShort, this.loop.now()));
	}

	void refused(RunHistory run) {
		note("refused: " + run);
		run.cutShort = Math.min(run.cutShort, this.loop.now());
		if (this.plan.kind() == StoreKind.REDIS) {
			// A raise that comes late can have a token from before the server forgot
			run.process().trouble(this.loop.now());
		}
	}

	void lost(LeasedRun leased) {
		RunHistory run = of(leased.grant());
		run.lost = this.loop.now();
		run.losses++;
		note("lost: " + run);
		require(run.losses == 1, run, "lost more than once");
		require(run.process().hadTroubleSince(run.granted - this.plan.ttl()), run, "lost for no reason");
	}

	void result(LeasedRun leased, RunResult result) {
		RunHistory run = of(leased.grant());
		run.outcome = result.outcome();
		note(result.outcome() + ": " + run);
		require(result.outcome() != RunOutcome.COMPLETED || !run.wasCutShort() || run.began == RunHistory.NEVER, run,
				"counts as completed although it was cut short");
	}

	/** When a fire time was first granted. */
	long started(Instant fireTime) {
		return this.started.getOrDefault(fireTime, 0L);
	}

	/** At the end, when everything that was on its way has arrived. */
	void finish() {
		for (RunHistory run : this.begun) {
			if (!run.process().isGone() && run.outcome != null) {
				require((run.outcome == RunOutcome.LOST) == (run.losses == 1), run,
						run.outcome + " and told of its loss " + run.losses + " times");
			}
		}
	}

	Set<String> violations() {
		return this.violations;
	}

	List<RunHistory> begun() {
		return this.begun;
	}

	String trace() {
		return (this.trace != null) ? this.trace.toString() : "";
	}

}
