package io.github.singletonjob.postgres;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * A lease that was granted. What the store needs to keep it is in its {@link Claim}.
 *
 * @param job the job
 * @param owner the random value of the request
 * @param token the fencing token
 */
record PostgresGrant(JobId job, String owner, long token) implements LeaseGrant {

}
