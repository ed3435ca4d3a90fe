package io.github.singletonjob.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.LeaseStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Asks for one lease, within the time that the request gives it. Looks first: a losing
 * attempt must neither write nor cost a lease of etcd, and what a run stands for is
 * decided by what was completed. What is written then counts only if nothing has changed.
 */
final class AcquireCall {

	private static final Log logger = LogFactory.getLog(AcquireCall.class);

	private final EtcdConnection connection;

	private final SharedLeases leases;

	private final HeldLeases held;

	private final Attempt attempt;

	AcquireCall(EtcdConnection connection, SharedLeases leases, HeldLeases held, Attempt attempt) {
		this.connection = connection;
		this.leases = leases;
		this.held = held;
		this.attempt = attempt;
	}

	Acquisition perform() {
		this.held.unsettled(this.attempt.key());
		try {
			try {
				return untilDefinite();
			}
			catch (LeaseGoneException ex) {
				return untilDefinite();
			}
		}
		catch (LeaseGoneException ex) {
			throw new LeaseStoreException(this.attempt.purpose() + " failed: etcd ended the lease at once", ex);
		}
		finally {
			this.held.settled(this.attempt.key());
		}
	}

	private Acquisition untilDefinite() throws LeaseGoneException {
		Acquisition answer = null;
		while (answer == null) {
			answer = lookAndTake();
		}
		return answer;
	}

	/** Answers null if it has to be done again, because something has changed. */
	private @Nullable Acquisition lookAndTake() throws LeaseGoneException {
		KnownJob seen = KnownJob.look(this.connection, this.attempt.keys(),
				this.attempt.request().callTimeout().dividedBy(3), this.attempt.deadline(), this.attempt.purpose());
		if (seen.lease() != null) {
			return refused(seen.lease());
		}
		Firing firing = this.attempt.request().firing();
		Optional<Plan> plan = Plan.of(seen, firing);
		if (plan.isEmpty()) {
			Instant completed = (firing != null) ? seen.record().of(firing.schedule()).completed() : null;
			return new Acquisition.AlreadyRan(completed);
		}
		return takeOrGiveUp(plan.get(), lease());
	}

	private Acquisition refused(KeyValue seen) {
		if (this.attempt.isOfOwner(seen)) {
			throw new LeaseStoreException(
					this.attempt.purpose() + " failed: an earlier call for the same request is being given up", null);
		}
		return new Acquisition.Held(Attempt.holder(seen));
	}

	private SharedLease lease() {
		Duration ttl = this.attempt.request().ttl();
		SharedLease usable = this.leases.usable(ttl);
		return (usable != null) ? usable
				: Replies.await(this.leases.open(ttl), this.attempt.deadline(), this.attempt.purpose());
	}

	private @Nullable Acquisition takeOrGiveUp(Plan plan, SharedLease lease) throws LeaseGoneException {
		lease.namespaces().add(this.attempt.request().job().namespace());
		try {
			return take(plan, lease);
		}
		catch (RuntimeException ex) {
			if (EtcdFailure.isLeaseNotFound(ex)) {
				throw gone(lease);
			}
			giveUp(plan, lease);
			throw ex;
		}
	}

	private @Nullable Acquisition take(Plan plan, SharedLease lease) throws LeaseGoneException {
		TakeAnswer answer = TakeAnswer.of(this.attempt, send(plan, lease));
		if (answer == null) {
			return null;
		}
		if (!this.attempt.hasCreated(answer.key())) {
			return refused(answer.key());
		}
		if (answer.token() <= this.attempt.request().floor()) {
			raise(plan, answer);
			return null;
		}
		confirm(lease, answer);
		HeldLease granted = new HeldLease(this.attempt, answer, lease, plan);
		this.held.add(granted);
		return new Acquisition.Acquired(granted.grant());
	}

	private TxnResponse send(Plan plan, SharedLease lease) {
		return Replies.await(
				this.connection.call((client) -> KeyTxns.take(client.getKVClient(), this.attempt, plan, lease.id())),
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

	private void raise(Plan plan, TakeAnswer low) {
		TxnResponse raised = Replies.await(
				this.connection.call((client) -> KeyTxns.raise(client.getKVClient(), this.attempt, plan, low)),
				this.attempt.deadline(), this.attempt.purpose());
		if (!raised.isSucceeded()) {
			// Somebody else has raised it meanwhile
			Replies.await(this.connection.call((client) -> KeyTxns.undo(client.getKVClient(), this.attempt, plan)),
					this.attempt.deadline(), this.attempt.purpose());
		}
	}

	/**
	 * The key may be there, or come later. What this does not reach is found by a renewal
	 * of the lease, or ends with it.
	 */
	private void giveUp(Plan plan, SharedLease lease) {
		lease.retire();
		this.connection.callAside((client) -> KeyTxns.undo(client.getKVClient(), this.attempt, plan),
				(answered) -> logger.debug(this.attempt.request().job() + ": what may have been granted was given up"
						+ (answered ? "" : ", not confirmed")));
	}

	private LeaseGoneException gone(SharedLease lease) {
		this.leases.drop(lease);
		return new LeaseGoneException();
	}

	/** The lease of etcd is over, and with it what was attached to it. */
	private static final class LeaseGoneException extends Exception {

		private static final long serialVersionUID = 1L;

	}

}
