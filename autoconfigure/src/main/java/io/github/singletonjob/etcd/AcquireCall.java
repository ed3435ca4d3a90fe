package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Asks for one lease, within the time that the request gives it.
 */
final class AcquireCall {

	private static final Log logger = LogFactory.getLog(AcquireCall.class);

	private final EtcdConnection connection;

	private final SharedLeases leases;

	private final Holdings holdings;

	private final Attempt attempt;

	AcquireCall(EtcdConnection connection, SharedLeases leases, Holdings holdings, Attempt attempt) {
		this.connection = connection;
		this.leases = leases;
		this.holdings = holdings;
		this.attempt = attempt;
	}

	Acquisition perform() {
		this.holdings.unsettled(this.attempt.key());
		try {
			SharedLease lease = this.leases.usable(ttl());
			if (lease == null) {
				return lookFirst();
			}
			try {
				return takeOrGiveUp(lease);
			}
			catch (LeaseGoneException ex) {
				return lookFirst();
			}
		}
		catch (LeaseGoneException ex) {
			throw new LeaseStoreException(this.attempt.purpose() + " failed: etcd ended the lease at once", ex);
		}
		finally {
			this.holdings.settled(this.attempt.key());
		}
	}

	/** A losing attempt must not cost a lease of etcd. */
	private Acquisition lookFirst() throws LeaseGoneException {
		List<KeyValue> seen = Replies
			.await(this.connection.ask((client) -> client.getKVClient().get(this.attempt.keyBytes()),
					this.attempt.request().callTimeout().dividedBy(3)), this.attempt.deadline(), this.attempt.purpose())
			.getKvs();
		if (!seen.isEmpty()) {
			return refused(seen.get(0));
		}
		return takeOrGiveUp(Replies.await(this.leases.open(ttl()), this.attempt.deadline(), this.attempt.purpose()));
	}

	private Acquisition refused(KeyValue seen) {
		if (this.attempt.isOfOwner(seen)) {
			throw new LeaseStoreException(
					this.attempt.purpose() + " failed: an earlier call for the same request is being given up", null);
		}
		return new Acquisition.Held(Attempt.holder(seen));
	}

	private Acquisition takeOrGiveUp(SharedLease lease) throws LeaseGoneException {
		lease.namespaces().add(this.attempt.request().job().namespace());
		try {
			return take(lease);
		}
		catch (RuntimeException ex) {
			if (EtcdFailure.isLeaseNotFound(ex)) {
				throw gone(lease);
			}
			giveUp(lease);
			throw ex;
		}
	}

	private Acquisition take(SharedLease lease) throws LeaseGoneException {
		while (true) {
			TakeAnswer answer = TakeAnswer.of(this.attempt, send(lease));
			if (!this.attempt.hasCreated(answer.key())) {
				return refused(answer.key());
			}
			if (answer.token() > this.attempt.request().floor()) {
				confirm(lease, answer);
				EtcdGrant grant = new EtcdGrant(this.attempt, answer.token(), answer.createRevision(), lease);
				this.holdings.add(grant);
				return new Acquisition.Acquired(grant);
			}
			raise(answer);
		}
	}

	private TxnResponse send(SharedLease lease) {
		return Replies.await(
				this.connection.call((client) -> KeyTxns.take(client.getKVClient(), this.attempt, lease.id())),
				this.attempt.deadline(), this.attempt.purpose());
	}

	/** The key ends with the lease, which may be an old one. */
	private void confirm(SharedLease lease, TakeAnswer answer) throws LeaseGoneException {
		boolean confirmed = lease.isConfirmedSince(this.attempt.start())
				|| KeepAlive.send(this.connection, lease, this.attempt.request().callTimeout())
					.isConfirmed(answer.term(), this.attempt.deadline(), this.attempt.purpose());
		if (!confirmed) {
			throw gone(lease);
		}
	}

	private void raise(TakeAnswer low) {
		TxnResponse raised = Replies.await(
				this.connection.call((client) -> KeyTxns.raise(client.getKVClient(), this.attempt, low)),
				this.attempt.deadline(), this.attempt.purpose());
		if (!raised.isSucceeded()) {
			// Somebody else has raised it meanwhile
			Replies.await(this.connection.call((client) -> KeyTxns.delete(client.getKVClient(), this.attempt)),
					this.attempt.deadline(), this.attempt.purpose());
		}
	}

	/**
	 * The key may be there, or come later. What a delete does not reach is found by a
	 * renewal of the lease, or ends with it.
	 */
	private void giveUp(SharedLease lease) {
		lease.retire();
		this.connection.callAside((client) -> KeyTxns.delete(client.getKVClient(), this.attempt),
				(answered) -> logger.debug(this.attempt.request().job() + ": what may have been granted was given up"
						+ (answered ? "" : ", not confirmed")));
	}

	private LeaseGoneException gone(SharedLease lease) {
		this.leases.drop(lease);
		return new LeaseGoneException();
	}

	private Duration ttl() {
		return this.attempt.request().ttl();
	}

	/** The lease of etcd is over, and with it what was attached to it. */
	private static final class LeaseGoneException extends Exception {

		private static final long serialVersionUID = 1L;

	}

}
