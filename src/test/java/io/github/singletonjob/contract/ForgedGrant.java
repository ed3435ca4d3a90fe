package io.github.singletonjob.contract;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;

/**
 * A grant that no store has given.
 *
 * @param job the job
 * @param owner the owner
 * @param token the token
 */
record ForgedGrant(JobId job, String owner, long token) implements LeaseGrant {

}
