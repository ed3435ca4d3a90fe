package io.github.singletonjob.postgres;

import java.sql.SQLException;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * One attempt to get a lease. However it ends, its claim stays entered only if it was
 * granted, or if the session still has to give up what may have been granted.
 *
 * @param claim what is asked for, entered already
 * @param claims where it is entered
 * @param sessions who has the session that is to hold it
 */
record AcquireAttempt(Claim claim, Claims claims, Sessions sessions) {

	Acquisition make(LeaseRequest request) {
		try {
			Acquisition answer = askTwice(SessionTimes.of(request));
			if (this.claim.grant() == null) {
				this.claims.drop(this.claim);
			}
			return answer;
		}
		catch (RuntimeException | Error ex) {
			if (!this.claim.isAbandoned()) {
				this.claims.drop(this.claim);
			}
			throw ex;
		}
	}

	private Acquisition askTwice(SessionTimes times) {
		long openBy = SessionCall.deadlineIn(times.openingTimeout());
		try {
			return ask(times, openBy);
		}
		catch (SessionEndedException ended) {
			// Its end was noticed only now; another one in the same attempt is an outage
			try {
				return ask(times, openBy);
			}
			catch (SessionEndedException ex) {
				throw new LeaseStoreException(this.claim.purpose() + " failed: " + ex.getMessage(), ex);
			}
		}
	}

	private Acquisition ask(SessionTimes times, long openBy) throws SessionEndedException {
		LeaseSession session = this.sessions.current(times);
		session.opening().await(this.claim.purpose(), openBy);
		SessionCall<Acquisition> call = new SessionCall<>(SessionCall.Rank.ACQUIRE, this.claim.purpose(),
				new AcquireWork(this.claim, session, this.claims));
		this.claim.asking(call);
		session.submit(call);
		try {
			return call.await(SessionCall.deadlineIn(times.callTimeout()));
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(this.claim.purpose(), ex);
		}
		catch (Error ex) {
			call.abandon();
			throw ex;
		}
	}

}
