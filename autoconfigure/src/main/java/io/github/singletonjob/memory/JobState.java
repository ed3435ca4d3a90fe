package io.github.singletonjob.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * What the store knows of one job. Not thread-safe.
 */
final class JobState {

	private final Map<String, FireTimes> fireTimes = new HashMap<>();

	private @Nullable Held held;

	private boolean released = true;

	private long token;

	/** The lease that has not expired, or null. */
	@Nullable Held current(long now) {
		Held last = this.held;
		if (last != null && now - last.expiry() >= 0) {
			this.held = null;
			return null;
		}
		return last;
	}

	boolean isHeldBy(LeaseGrant grant, long now) {
		Held current = current(now);
		return current != null && current.grant().owner().equals(grant.owner())
				&& current.grant().token() == grant.token();
	}

	Acquisition grant(LeaseRequest request, long now) {
		Firing firing = request.firing();
		if (firing == null) {
			return hold(request, null, now);
		}
		Instant wall = Instant.now();
		if (firing.fireTime() != null && firing.fireTime().isAfter(wall.plus(Firing.CLOCK_TOLERANCE))) {
			return new Acquisition.Early(wall);
		}
		FireTimes known = fireTimes(firing.schedule());
		Optional<GrantedFireTime> decided = known.decide(firing);
		if (decided.isEmpty()) {
			return new Acquisition.AlreadyRan(known.completed());
		}
		this.fireTimes.put(firing.schedule(), known.start(decided.get().instant()));
		return hold(request, decided.get(), now);
	}

	private Acquisition hold(LeaseRequest request, @Nullable GrantedFireTime fireTime, long now) {
		long next = (this.token == 0) ? System.currentTimeMillis() : this.token + 1;
		this.token = Math.max(next, request.floor() + 1);
		LeaseGrant grant = new LeaseGrant(request, this.token, fireTime, !this.released);
		this.released = false;
		this.held = new Held(grant, now + request.ttl().toNanos());
		return new Acquisition.Acquired(grant);
	}

	void extend(long now) {
		Held last = this.held;
		if (last != null) {
			this.held = new Held(last.grant(), now + last.grant().request().ttl().toNanos());
		}
	}

	void complete(LeaseGrant grant, Instant completed) {
		GrantedFireTime fireTime = grant.fireTime();
		if (fireTime != null) {
			this.fireTimes.put(fireTime.schedule(), fireTimes(fireTime.schedule()).complete(completed));
		}
	}

	void end(boolean given) {
		this.held = null;
		this.released = given;
	}

	LeaseRecord inspect(long now) {
		Held current = current(now);
		return new LeaseRecord(
				current != null, (current != null) ? current.holder() : null, this.token, (current != null)
						? Duration.ofNanos(Math.max(TimeUnit.MILLISECONDS.toNanos(1), current.expiry() - now)) : null,
				this.fireTimes);
	}

	private FireTimes fireTimes(String schedule) {
		return this.fireTimes.getOrDefault(schedule, FireTimes.NONE);
	}

	/**
	 * A lease as the store knows it.
	 *
	 * @param grant the lease
	 * @param expiry when it is over, on the store's clock, in nanoseconds
	 */
	record Held(LeaseGrant grant, long expiry) {

		String holder() {
			return this.grant.request().holder();
		}

	}

}
