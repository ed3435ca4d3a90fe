package io.github.singletonjob.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.time.Instant;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.simulation.Lease.End;
import org.jspecify.annotations.Nullable;

/**
 * The server of a model store, with one job. Its methods happen at one moment each.
 */
final class StoreServer {

	private final EventLoop loop;

	private final Plan plan;

	private final Dice dice;

	private final History history;

	/** Until when the session or the shared lease of a process lasts. */
	private final Map<SimulatedProcess, Long> shared = new HashMap<>();

	private final Map<Object, Runnable> watchers = new LinkedHashMap<>();

	private final Set<String> givenUp = new HashSet<>();

	private final Map<LeaseGrant, Lease> granted = new HashMap<>();

	private @Nullable Lease held;

	private FireTimes times = FireTimes.NONE;

	private long token;

	private long latest;

	private Runnable restore = this::wipe;

	StoreServer(EventLoop loop, Plan plan, Dice dice, History history) {
		this.loop = loop;
		this.plan = plan;
		this.dice = dice;
		this.history = history;
	}

	Acquisition acquire(SimulatedProcess process, LeaseRequest request) {
		if (this.givenUp.contains(request.owner())) {
			throw new LeaseStoreException("given up", null);
		}
		hear(process, request);
		Lease current = this.held;
		if (current != null) {
			return current.grant.owner().equals(request.owner()) ? new Acquisition.Acquired(current.grant)
					: new Acquisition.Held(current.process.name);
		}
		GrantedFireTime fireTime = null;
		if (request.firing() != null) {
			Optional<GrantedFireTime> decided = this.times.decide(request.firing());
			if (decided.isEmpty()) {
				return new Acquisition.AlreadyRan(this.times.completed());
			}
			fireTime = decided.get();
			this.times = this.times.start(fireTime.instant());
		}
		long next = (this.token == 0) ? process.wallMillisAt(this.loop.now()) : this.token + 1;
		this.token = Math.max(next, request.floor() + 1);
		Lease lease = new Lease(process, new LeaseGrant(request, this.token, fireTime, false));
		this.granted.put(lease.grant, lease);
		hold(lease);
		this.history.granted(lease);
		return new Acquisition.Acquired(lease.grant);
	}

	private void hear(SimulatedProcess process, LeaseRequest request) {
		long known = this.shared.getOrDefault(process, 0L);
		boolean late = this.plan.flaw() == Flaw.SHARED_LEASE_NOT_RENEWED && known > this.loop.now();
		if (!late) {
			this.shared.put(process, this.loop.now() + request.ttl().toNanos());
		}
	}

	private void hold(Lease lease) {
		lease.expiry = this.loop.now() + lease.ttl();
		lease.late = -1;
		this.held = lease;
		this.loop.instant(expiry(lease), null, () -> expire(lease));
	}

	private long expiry(Lease lease) {
		return (this.plan.kind() == StoreKind.REDIS) ? lease.expiry : this.shared.getOrDefault(lease.process, 0L);
	}

	private void expire(Lease lease) {
		if (this.held != lease) {
			return;
		}
		long expiry = expiry(lease);
		if (expiry <= this.loop.now() && lease.late < 0) {
			lease.late = (this.plan.kind() == StoreKind.ETCD) ? this.dice.between(0, Math.max(1, this.latest)) : 0;
		}
		if (expiry + Math.max(0, lease.late) > this.loop.now()) {
			this.loop.instant(expiry + Math.max(0, lease.late), null, () -> expire(lease));
			return;
		}
		end(End.EXPIRED);
	}

	private void end(End how) {
		Lease lease = this.held;
		if (lease == null) {
			return;
		}
		this.held = null;
		this.history.leaseEnded(lease, how);
		this.watchers.values().forEach(Runnable::run);
	}

	private boolean isHeldBy(LeaseGrant grant) {
		Lease current = this.held;
		return current != null && expiry(current) > this.loop.now()
				&& (current.grant.equals(grant) || this.plan.flaw() == Flaw.OWNER_NOT_COMPARED);
	}

	List<Renewal> renew(List<LeaseGrant> grants) {
		return grants.stream().map((grant) -> renew(this.granted.get(grant))).toList();
	}

	private Renewal renew(Lease lease) {
		if (isHeldBy(lease.grant)) {
			this.shared.put(lease.process, this.loop.now() + lease.ttl());
			lease.expiry = this.loop.now() + lease.ttl();
			lease.late = -1;
			return Renewal.EXTENDED;
		}
		if (this.plan.flaw() == Flaw.RENEWAL_CREATES && this.held == null) {
			this.shared.put(lease.process, this.loop.now() + lease.ttl());
			hold(lease);
			return Renewal.EXTENDED;
		}
		return Renewal.GONE;
	}

	boolean complete(LeaseGrant grant, Instant completed) {
		boolean ours = isHeldBy(grant);
		if (ours) {
			this.history.recorded(grant, completed);
			this.times = this.times.complete(completed);
		}
		return ours;
	}

	boolean release(LeaseGrant grant, @Nullable Instant completed) {
		if (!isHeldBy(grant)) {
			return false;
		}
		if (completed != null) {
			complete(grant, completed);
		}
		this.history.released(this.held.grant, grant);
		end(End.RELEASED);
		return true;
	}

	/** Whatever the request is granted or will be is not wanted any more. */
	void giveUp(String owner) {
		this.givenUp.add(owner);
		if (this.held != null && this.held.grant.owner().equals(owner)) {
			end(End.RELEASED);
		}
	}

	LeaseRecord inspect() {
		Lease current = this.held;
		return new LeaseRecord(current != null, (current != null) ? current.process.name : null, this.token,
				(current != null) ? Duration.ofNanos(Math.max(1, expiry(current) - this.loop.now())) : null,
				Map.of("", this.times));
	}

	void watch(Object key, Runnable wake) {
		this.watchers.put(key, wake);
	}

	void unwatch(Object key) {
		this.watchers.remove(key);
	}

	/** A fault of this kind of store. */
	void misbehave() {
		switch (this.plan.kind()) {
			case POSTGRES -> {
				if (this.held != null) {
					closeSession(this.held.process);
				}
			}
			case REDIS -> this.restore.run();
			case ETCD -> this.latest = this.plan.ttl();
		}
	}

	/** Keeps what a later fault may go back to. */
	void copy() {
		long token = this.token;
		FireTimes times = this.times;
		this.restore = () -> {
			wipe();
			this.token = token;
			this.times = times;
		};
	}

	private void wipe() {
		end(End.EARLY);
		this.token = 0;
		this.times = FireTimes.NONE;
	}

	/** The server ends the session of a process, which may live or not. */
	void closeSession(SimulatedProcess process) {
		if (this.plan.kind() == StoreKind.POSTGRES) {
			this.shared.remove(process);
			if (this.held != null && this.held.process == process) {
				end(End.EARLY);
			}
		}
	}

	boolean isFree() {
		return this.held == null;
	}

	FireTimes fireTimes() {
		return this.times;
	}

	@Override
	public String toString() {
		return "store, held by " + ((this.held != null) ? this.held.process + " with " + this.held.token() : "nobody")
				+ ", " + this.times;
	}

}
