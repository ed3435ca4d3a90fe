package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * A look at a job. It is made on whichever session is open, after everything else that
 * waits there, and opens one if there is none.
 *
 * @param job the job
 * @param timeout how long it may take
 * @param sessions who has the sessions
 */
record Inspection(JobId job, Duration timeout, Sessions sessions) {

	/** The time to live of a session that is opened for looks, in call time-outs. */
	private static final int PATIENCE = 9;

	LeaseRecord make() {
		InspectWork work = new InspectWork(this.job);
		try {
			return ask(work);
		}
		catch (SessionEndedException ended) {
			// Its end was noticed only now; another one in the same look is an outage
			try {
				return ask(work);
			}
			catch (SessionEndedException ex) {
				throw new LeaseStoreException(purpose() + " failed: " + ex.getMessage(), ex);
			}
		}
	}

	/** Takes the lease away, instead of looking; not repeated. */
	boolean revoke(long token) {
		try {
			return ask((connection) -> connection.revoke(this.job, token));
		}
		catch (SessionEndedException ex) {
			throw new LeaseStoreException(purpose() + " failed: " + ex.getMessage(), ex);
		}
	}

	private <T> T ask(SessionCall.Work<T> work) throws SessionEndedException {
		SessionTimes times = new SessionTimes(this.timeout.multipliedBy(PATIENCE), this.timeout);
		LeaseSession session = this.sessions.any(times);
		session.opening().await(purpose(), SessionCall.deadlineIn(times.openingTimeout()));
		SessionCall<T> call = new SessionCall<>(SessionCall.Rank.INSPECT, purpose(), work);
		session.submit(call);
		try {
			return call.await(SessionCall.deadlineIn(this.timeout));
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(purpose(), ex);
		}
	}

	private String purpose() {
		return this.job.name() + ": looking at its lease in Postgres";
	}

}
