package io.github.singletonjob.postgres;

import java.sql.SQLException;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRecord;

/**
 * Looks at a job.
 *
 * @param job the job
 */
record InspectWork(JobId job) implements SessionCall.Work<LeaseRecord> {

	@Override
	public LeaseRecord perform(LeaseConnection connection) throws SQLException {
		return connection.inspect(this.job);
	}

}
