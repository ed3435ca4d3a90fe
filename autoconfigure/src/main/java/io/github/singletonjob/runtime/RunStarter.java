package io.github.singletonjob.runtime;

import java.time.Instant;
import java.util.UUID;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.JobClock.Moment;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What lies before the body: the grant, its keeping, and the fence. A stale holder does
 * not get past the fence; a legitimate one whose store went back in time gets a token
 * above all that the database has seen, and one whose store forgot what was completed
 * does not repeat it.
 */
final class RunStarter {

	private static final Log logger = LogFactory.getLog(RunStarter.class);

	private final LeaseStore store;

	private final @Nullable Fence fence;

	private final LeaseKeeper keeper;

	private final String holder;

	RunStarter(LeaseStore store, @Nullable Fence fence, LeaseKeeper keeper, String holder) {
		this.store = store;
		this.fence = fence;
		this.keeper = keeper;
		this.holder = holder;
	}

	/**
	 * Takes the lease and raises the fence.
	 * @return the run, kept from here on, or why there is none
	 * @throws LeaseStoreException if the store or the guarded database could not answer;
	 * a lease that was granted has been given back
	 * @throws IllegalStateException if the clock of this machine is wrong
	 */
	Start start(RunRequest request, @Nullable LeasedRun enclosing) {
		LeaseTiming timing = request.settings().timing();
		LeaseRequest asked = new LeaseRequest(request.job(), newOwner(), this.holder, timing.ttl(),
				timing.callTimeout(), 0, request.firing());
		Start start = startAbove(asked, request.settings(), enclosing);
		if (start instanceof Stale stale) {
			logger.warn(stale.describe() + "; asking again above it");
			asked = asked.above(newOwner(), stale.seen());
			start = startAbove(asked, request.settings(), enclosing);
		}
		if (start instanceof Behind) {
			// The store knows it by now, and grants what was asked for
			start = startAbove(asked.above(newOwner(), asked.floor()), request.settings(), enclosing);
		}
		if (start instanceof Stale stale) {
			throw new LeaseStoreException(stale.describe() + ", so this grant is stale. The next firing asks again",
					null);
		}
		return (start instanceof Behind) ? new Skipped(RunOutcome.SKIPPED_ALREADY_RAN) : start;
	}

	private Start startAbove(LeaseRequest request, RunSettings settings, @Nullable LeasedRun enclosing) {
		Start start = acquire(request, settings, enclosing);
		return (start instanceof Begun begun && this.fence != null) ? raise(this.fence, begun.run(), request.firing())
				: start;
	}

	private Start acquire(LeaseRequest request, RunSettings settings, @Nullable LeasedRun enclosing) {
		Moment sent = this.keeper.scheduling().clock().now();
		Acquisition acquisition = this.store.tryAcquire(request);
		if (acquisition instanceof Acquisition.Acquired acquired) {
			LeaseDeadline deadline = new LeaseDeadline(this.keeper.scheduling().clock(), settings.timing(), sent);
			return keep(new ActiveRun(acquired.grant(), settings, this.holder, deadline, enclosing));
		}
		String job = request.job().name();
		if (acquisition instanceof Acquisition.Held held) {
			logger.debug(job + ": skipped, held by "
					+ ((held.holder() != null) ? held.holder() : "somebody whom the store cannot name"));
			return new Skipped(RunOutcome.SKIPPED_HELD);
		}
		if (acquisition instanceof Acquisition.Early early) {
			throw clockAhead(job, early.storeTime());
		}
		logAlreadyRan(job, request.firing(), "the store", ((Acquisition.AlreadyRan) acquisition).completed());
		return new Skipped(RunOutcome.SKIPPED_ALREADY_RAN);
	}

	private static void logAlreadyRan(String job, @Nullable Firing firing, String who, @Nullable Instant completed) {
		if (logger.isDebugEnabled()) {
			logger.debug(job + ": skipped, its fire time" + ((firing != null) ? " " + firing.fireTime() : "")
					+ " or a later one has run"
					+ ((completed != null) ? ": " + who + " has " + completed + " as completed" : ""));
		}
	}

	private Start keep(ActiveRun run) {
		if (run.deadline().isPassed()) {
			giveBack(run, null);
			throw new LeaseStoreException(run.job() + ": the store took " + run.deadline().age().toMillis()
					+ " ms to grant the lease, longer than it can be relied on; it was given back", null);
		}
		try {
			this.keeper.keep(run);
			return new Begun(run);
		}
		catch (RuntimeException | Error ex) {
			giveBack(run, null);
			throw ex;
		}
	}

	private Start raise(Fence fence, ActiveRun run, @Nullable Firing firing) {
		Fence.FenceAnswer answer;
		try {
			answer = fence.raise(run.grant(), this.holder, run.ttl().multipliedBy(2));
		}
		catch (RuntimeException | Error ex) {
			giveBack(run, null);
			throw ex;
		}
		if (answer instanceof Fence.Raised raised) {
			run.standFor(raised.fireTime());
			return new Begun(run);
		}
		if (answer instanceof Fence.AlreadyRan already) {
			logAlreadyRan(run.job(), firing, "the guarded database", already.completed());
			giveBack(run, already.completed());
			return isBehind(run, firing) ? new Behind() : new Skipped(RunOutcome.SKIPPED_ALREADY_RAN);
		}
		giveBack(run, null);
		if (answer instanceof Fence.Early early) {
			throw clockAhead(run.job(), early.databaseTime());
		}
		return new Stale(run, ((Fence.Refused) answer).seen());
	}

	private static boolean isBehind(ActiveRun run, @Nullable Firing firing) {
		Instant due = (firing != null) ? firing.fireTime() : null;
		return due != null && run.fireTime().filter((granted) -> granted.isBefore(due)).isPresent();
	}

	private static IllegalStateException clockAhead(String job, Instant elsewhere) {
		return new IllegalStateException(job + ": not run, because its fire time lies more than five minutes ahead of"
				+ " the server's clock, which says " + elsewhere
				+ ": correct the clock of this machine or of the server");
	}

	private void giveBack(ActiveRun run, @Nullable Instant completed) {
		run.life().endBody(RunOutcome.CANCELLED);
		this.keeper.giveBack(run, completed, null);
	}

	private static String newOwner() {
		return UUID.randomUUID().toString();
	}

	/** How an attempt to begin a run went. */
	sealed interface Start {

	}

	/**
	 * The run has its lease, and the fence stands at its token.
	 *
	 * @param run the run
	 */
	record Begun(ActiveRun run) implements Start {
	}

	/**
	 * There is nothing to run.
	 *
	 * @param outcome why
	 */
	record Skipped(RunOutcome outcome) implements Start {
	}

	/**
	 * The grant was given back, because it was for an earlier fire time that only the
	 * store held open: the database knows that it has run.
	 */
	private record Behind() implements Start {
	}

	/**
	 * The grant was given back, because the database has seen a token above it.
	 *
	 * @param run the run that did not begin
	 * @param seen the token that the database has seen
	 */
	private record Stale(ActiveRun run, long seen) implements Start {

		String describe() {
			return this.run.job() + ": granted token " + this.run.token() + " is not above " + this.seen
					+ ", which the guarded database has seen";
		}

	}

}
