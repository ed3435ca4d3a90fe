package io.github.singletonjob.postgres;

import java.sql.SQLException;

/**
 * What a session needs from those who keep it.
 */
interface SessionOpener {

	/**
	 * Opens the connection of a session, on the thread of the session.
	 * @param times the time-outs
	 * @return the connection, ready for leases
	 * @throws SQLException if the server refuses or does not answer
	 * @throws io.github.singletonjob.lease.LeaseStoreException if there is more to be
	 * said about it
	 */
	LeaseConnection open(SessionTimes times) throws SQLException;

	/**
	 * A session has ended by itself.
	 * @param session the session
	 */
	void ended(LeaseSession session);

}
