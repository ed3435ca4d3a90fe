package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.github.singletonjob.lease.LeaseStoreException;

/**
 * One renewal of a lease of etcd, on its way.
 * <p>
 * The member that answers may have been replaced as the head of the cluster while it was
 * frozen, without knowing; a renewal there would be worth nothing. So the renewal counts
 * only if the term in which it was taken is not older than that of a read or a
 * transaction, on which a majority agreed, that was sent no earlier than what the lease
 * is measured from. Whoever becomes the head after that starts all leases anew.
 *
 * @param lease the lease
 * @param sent when it was sent, in {@link System#nanoTime()}
 * @param reply the reply
 */
record KeepAlive(SharedLease lease, long sent, CompletableFuture<LeaseKeepAliveResponse> reply) {

	static KeepAlive send(EtcdConnection connection, SharedLease lease, Duration callTimeout) {
		long sent = System.nanoTime();
		return new KeepAlive(lease, sent, connection.ask((client) -> client.getLeaseClient().keepAliveOnce(lease.id()),
				callTimeout.dividedBy(3)));
	}

	/**
	 * Waits until the lease is renewed.
	 * @return false if it is over
	 * @throws LeaseStoreException if the outcome is unknown
	 */
	boolean isConfirmed(long term, long deadline, String purpose) {
		LeaseKeepAliveResponse kept;
		try {
			kept = Replies.await(this.reply, deadline, purpose);
		}
		catch (LeaseStoreException ex) {
			if (EtcdFailure.isLeaseNotFound(ex)) {
				return false;
			}
			throw ex;
		}
		if (kept.getTTL() <= 0) {
			return false;
		}
		if (kept.getHeader().getRaftTerm() < term) {
			throw new LeaseStoreException(purpose + " failed: the members of etcd elected anew meanwhile", null);
		}
		this.lease.confirm(this.sent);
		return true;
	}

}
