package io.github.singletonjob.runtime;

import java.util.UUID;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.JobId;
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
 * above all that the database has seen.
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
	 * @return the run, kept from here on, or null if the job is held elsewhere
	 * @throws LeaseStoreException if the store or the guarded database could not answer;
	 * a lease that was granted has been given back
	 */
	@Nullable ActiveRun start(JobId job, RunSettings settings, @Nullable LeasedRun enclosing) {
		LeaseTiming timing = settings.timing();
		LeaseRequest request = new LeaseRequest(job, newOwner(), this.holder, timing.ttl(), timing.callTimeout(), 0);
		ActiveRun run = acquire(request, settings, enclosing);
		if (run == null || this.fence == null) {
			return run;
		}
		Fence.FenceAnswer answer = raise(this.fence, run);
		if (answer instanceof Fence.Refused refused) {
			logger.warn(job.name() + ": granted token " + run.token() + " is not above " + refused.seen()
					+ ", which the guarded database has seen; asking again above it");
			giveBack(run);
			run = acquire(request.above(newOwner(), refused.seen()), settings, enclosing);
			answer = (run != null) ? raise(this.fence, run) : answer;
		}
		if (run != null && answer instanceof Fence.Refused refused) {
			giveBack(run);
			throw new LeaseStoreException(job.name() + ": the guarded database has seen token " + refused.seen()
					+ ", above the granted " + run.token() + ", so this grant is stale. The next firing asks again",
					null);
		}
		return run;
	}

	private @Nullable ActiveRun acquire(LeaseRequest request, RunSettings settings, @Nullable LeasedRun enclosing) {
		JobClock clock = this.keeper.scheduling().clock();
		Moment sent = clock.now();
		Acquisition acquisition = this.store.tryAcquire(request);
		if (acquisition instanceof Acquisition.Acquired acquired) {
			LeaseDeadline deadline = new LeaseDeadline(clock, settings.timing(), sent);
			ActiveRun run = new ActiveRun(acquired.grant(), settings, this.holder, deadline, enclosing);
			if (deadline.isPassed()) {
				giveBack(run);
				throw new LeaseStoreException(run.job() + ": the store took " + deadline.age().toMillis()
						+ " ms to grant the lease, longer than it can be relied on; it was given back", null);
			}
			keep(run);
			return run;
		}
		if (logger.isDebugEnabled()) {
			String holder = ((Acquisition.Held) acquisition).holder();
			logger.debug(request.job().name() + ": skipped, held "
					+ ((holder != null) ? "by " + holder : "by somebody whom the store cannot name"));
		}
		return null;
	}

	private Fence.FenceAnswer raise(Fence fence, ActiveRun run) {
		try {
			return fence.raise(run.grant(), this.holder, run.ttl().multipliedBy(2));
		}
		catch (RuntimeException | Error ex) {
			giveBack(run);
			throw ex;
		}
	}

	private void keep(ActiveRun run) {
		try {
			this.keeper.keep(run);
		}
		catch (RuntimeException | Error ex) {
			giveBack(run);
			throw ex;
		}
	}

	private void giveBack(ActiveRun run) {
		run.endBody(RunOutcome.CANCELLED);
		this.keeper.giveBack(run, null);
	}

	private static String newOwner() {
		return UUID.randomUUID().toString();
	}

}
