package io.github.singletonjob.simulation;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.github.singletonjob.lease.Fence;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.simulation.Network.Link;

/**
 * The guarded database as one process sees it: the fence, and the transactions of bodies.
 */
final class DatabaseClient implements Fence {

	private final SimulatedProcess process;

	private final Database database;

	private final Network network;

	private final Plan plan;

	private final Dice dice;

	/** Grants whose raise was put off; only by a flaw. */
	private final Set<LeaseGrant> unraised = new HashSet<>();

	DatabaseClient(SimulatedProcess process, Database database, Network network, Plan plan, Dice dice) {
		this.process = process;
		this.database = database;
		this.network = network;
		this.plan = plan;
		this.dice = dice;
	}

	@Override
	public FenceAnswer raise(LeaseGrant grant, String holder, Duration timeout) {
		if (this.plan.flaw() == Flaw.RAISED_AFTER_FIRST_READ) {
			this.unraised.add(grant);
			return this.network.call(this.process, Link.DATABASE, timeout, 0, () -> this.database.look(grant));
		}
		long takes = this.plan.slowRaise() ? this.dice.between(this.plan.ttl() / 2, this.plan.ttl() * 3 / 2) : 0;
		return this.network.call(this.process, Link.DATABASE, timeout, takes, () -> this.database.raise(grant));
	}

	@Override
	public Completion complete(LeaseGrant grant, GrantedFireTime fireTime, Duration timeout) {
		try {
			return this.network.call(this.process, Link.DATABASE, timeout, 0,
					() -> this.database.complete(grant, fireTime) ? Completion.RECORDED : Completion.REFUSED);
		}
		catch (LeaseStoreException ex) {
			// A run whose body failed is lost then
			this.process.trouble();
			throw ex;
		}
	}

	@Override
	public Map<String, FireTimes> fireTimes(JobId job, Duration timeout) {
		return this.network.call(this.process, Link.DATABASE, timeout, 0, () -> Map.of("", this.database.fireTimes()));
	}

	/** The first half of a body's transaction. */
	void read(LeaseGrant grant) {
		this.network.call(this.process, Link.DATABASE, timeout(), 0, this.database::fireTimes);
		if (this.unraised.remove(grant)) {
			this.network.call(this.process, Link.DATABASE, timeout(), 0, () -> this.database.raise(grant));
		}
	}

	/** The second half; false if the database refuses. */
	boolean commit(LeaseGrant grant) {
		return this.network.call(this.process, Link.DATABASE, timeout(), 0, () -> this.database.commit(grant));
	}

	/** Short, so that a body that was told is not kept by its database. */
	private Duration timeout() {
		return Duration.ofNanos(this.plan.stopEarly() / 4);
	}

}
