package io.github.singletonjob.etcd;

import java.util.Optional;

import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import org.jspecify.annotations.Nullable;

/**
 * What is to be written if nothing has changed since it was looked at.
 *
 * @param before what was seen; nobody has the lease
 * @param record the record as it will be
 * @param fireTime what the run will stand for, or null
 */
record Plan(KnownJob before, JobRecord record, @Nullable GrantedFireTime fireTime) {

	/** Empty if there is nothing to run. */
	static Optional<Plan> of(KnownJob seen, @Nullable Firing firing) {
		JobRecord held = seen.record().held();
		if (firing == null) {
			return Optional.of(new Plan(seen, held, null));
		}
		FireTimes known = held.of(firing.schedule());
		return known.decide(firing)
			.map((decided) -> new Plan(seen, held.with(firing.schedule(), known.start(decided.instant())), decided));
	}

}
