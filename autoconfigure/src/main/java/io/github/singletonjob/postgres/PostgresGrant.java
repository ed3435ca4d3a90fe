package io.github.singletonjob.postgres;

import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * A lease that was granted. What the store needs to keep it is in its {@link Claim}.
 *
 * @param job the job
 * @param owner the random value of the request
 * @param token the fencing token
 * @param fireTime the fire time, or null for an extra run
 * @param followsUnreleased whether the holder before has not given its lease back
 */
record PostgresGrant(JobId job, String owner, long token, @Nullable GrantedFireTime fireTime,
		boolean followsUnreleased) implements LeaseGrant {

}
