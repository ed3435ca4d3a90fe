package io.github.singletonjob.simulation;

import java.util.List;

/**
 * The safety rules, each broken once. Those of stores and fences are {@link Flaw}s of the
 * models, the others are changes of the runtime's source text.
 */
final class Mutants {

	private static final String APPLY = "apply(answers.get(i), due.get(i), sent)";

	private static final String ASKED = "Moment sent = this.keeper.scheduling().clock().now();";

	private static final String ACQUIRE = "Acquisition acquisition = this.store.tryAcquire(request);";

	private static final String KEEP = "this.keeper.keep(run);";

	private static final String STAND_FOR = "run.standFor(raised.fireTime());";

	private static final String KNOWS = "logAlreadyRan(run.job(), firing, \"the guarded database\", already.completed());";

	private static final String EXECUTE = "Throwable failure = call.execute(body);";

	private static final String COMPARE_AND_END = "boolean first = this.end.compareAndSet(null, reason);";

	private static final String GONE = "run.life().end(new RunEnd(RunOutcome.LOST, \"the store says that its lease is gone\"));";

	private static final String COMPLETED = "boolean completed = counts && (failed || end.outcome() == RunOutcome.COMPLETED);";

	private static final String COUNTS = "boolean counts = !hasFailed(run, thrown) || isConfirmed(run);";

	private static final String BELIEVES = "believes in a lease that is over";

	private static final String COMMITTED = "committed after the body of a newer run had begun";

	private static final String LOST_FOR_NO_REASON = "lost for no reason";

	private static final String LEAVES_OPEN = "leaves a fire time open that it knows of";

	private Mutants() {
	}

	static List<Mutant> all() {
		return List.of(Mutant.of(Flaw.SHARED_LEASE_NOT_RENEWED, BELIEVES), Mutant.of(Flaw.RENEWAL_CREATES, BELIEVES),
				Mutant.of(Flaw.OWNER_NOT_COMPARED, "released under its body, by another's release"),
				Mutant.of(Flaw.RAISED_AFTER_FIRST_READ, COMMITTED), Mutant.of(Flaw.COMMITS_NOT_CHECKED, COMMITTED),
				Mutant.of("the deadline of a renewal counts from the reply", BELIEVES)
					.change("RenewalLane", APPLY, APPLY.replace("sent", "this.scheduling.clock().now()")),
				Mutant.of("the deadline of a grant counts from the reply", BELIEVES)
					.change("RunStarter", ASKED, "", ACQUIRE, ACQUIRE + ASKED),
				Mutant.of("a refused renewal counts as confirmed", BELIEVES)
					.change("RenewalLane", "\t\t\t\tremove(run);", "", GONE, "run.deadline().confirm(sent);"),
				Mutant.of("a run is kept only after the raise", LOST_FOR_NO_REASON)
					.change("RunStarter", KEEP, "", STAND_FOR, STAND_FOR + KEEP),
				Mutant.of("renewal ends with the body", LOST_FOR_NO_REASON)
					.change("RunCloser", "run.life().holdOn(true);", ""),
				Mutant.of("no watchdog", "was not told that its lease is over")
					.change("LeaseKeeper", "\t\twatch(run);\n\t}", "\t}"),
				Mutant.of("no watchdog at all, so that bodies overlap", "overlaps with a newer body")
					.change("LeaseKeeper", "\t\twatch(run);\n\t}", "\t}"),
				Mutant.of("the database's word that a fire time has run is ignored", "begins for a completed fire time")
					.change("RunStarter", KNOWS, "if (already != null) { return new Begun(run); }"),
				Mutant.of("the suspension of a machine is not noticed", BELIEVES)
					.change("LeaseDeadline", "return wallMillis - monotonicMillis <=", "return Long.MIN_VALUE <="),
				Mutant.of("released before the body", "released under its body")
					.change("SingletonJobRunner", EXECUTE, "this.keeper.giveBack(begun.run(), null, null);" + EXECUTE),
				Mutant.of("released when a stage begins", "recorded before the end of its body")
					.change("SingletonJobRunner", "\t\t\tfollow(stage, work);", "\t\t\twork.complete(null);"),
				Mutant.of("a run can end more than once", "lost more than once")
					.change("RunLife", COMPARE_AND_END, "this.end.set(reason); boolean first = true;"),
				Mutant
					.of("a run that was cut short counts as completed",
							"recorded as completed although it was cut short")
					.change("RunCloser", COMPLETED, "boolean completed = true;"),
				Mutant
					.of("a failure counts although nobody has confirmed the lease",
							"recorded as completed although it failed when its lease had gone")
					.change("RunCloser", COUNTS, "boolean counts = true;"),
				Mutant.of("a thread is interrupted after its run", "an interrupt hits a thread that executes no body")
					.change("InterruptGate", "\t\t\tthis.thread = null;", ""),
				Mutant.of("a stand-by does not wait for the holder", LEAVES_OPEN)
					.change("StandByLook", "return await(record, freed);", "return null;"),
				Mutant.of("a stand-by does not look again after a failure", LEAVES_OPEN)
					.change("Candidacy", "pause = failed(ex);", "failed(ex);"));
	}

}
