package io.github.singletonjob.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import io.etcd.jetcd.KeyValue;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.lease.UnusableStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Leases in etcd 3.4 or newer. The idea is that of etcd's own elections: a key that is
 * attached to a lease of etcd, and whose create revision orders all who ever had it.
 * <ol>
 * <li>An instance has one lease of etcd for each time to live, and the keys of all its
 * jobs are attached to it: renewing many jobs costs no more than renewing one. If the
 * instance is silent, etcd deletes them all.</li>
 * <li>A job is taken by one transaction, which creates its key if there is none and
 * answers with the key that is there. It is only sent if nobody had the job a moment ago:
 * a losing attempt writes nothing. Attaching a key does not renew the lease, so the
 * winner renews it before it says so.</li>
 * <li>The token is the key's create revision plus an offset, read in that transaction.
 * The offset is raised only if the revisions of a restored or new etcd lie below what a
 * guarded database has seen.</li>
 * <li>A renewal renews the lease of etcd and at the same time looks whether the keys are
 * as they were created. An operator takes a job away by deleting its key. Nothing is
 * created anew.</li>
 * <li>Beside it there is a record of the job, which stays: the fire times, and whether
 * the last holder gave the lease back. It changes in the transactions that take a job and
 * give it back, and only in them. So who wants to take a job looks first, and what it
 * writes then counts only if the record has not changed.</li>
 * <li>A release deletes the key, if it is as it was created.</li>
 * <li>Those who stand by make a queue: each has a key in it, and watches the one before;
 * the head watches the job's key. So the end of a lease wakes one of them.</li>
 * <li>A call without an answer may have created a key, or may do so later. Then the lease
 * of etcd takes no more keys. Each of its renewals deletes what is attached to it and not
 * known to be held; when it has nothing left that is held, it is not renewed any more and
 * takes the rest with it.</li>
 * </ol>
 */
public final class EtcdLeaseStore implements LeaseStore, AutoCloseable {

	private static final Duration CLOSING_TIME = Duration.ofSeconds(2);

	private final HeldLeases held = new HeldLeases();

	private final AtomicLong attempts = new AtomicLong();

	private final EtcdConnection connection;

	private final KeyNames names;

	private final SharedLeases leases;

	private final Queues queues;

	private volatile boolean closed;

	/**
	 * Creates a store; nothing is sent before the first call.
	 * @param connection the way to etcd, closed with the store
	 * @param prefix what all its keys begin with, {@code singleton-job/} for example
	 */
	public EtcdLeaseStore(EtcdConnection connection, String prefix) {
		this.connection = connection;
		this.names = new KeyNames(prefix);
		this.leases = new SharedLeases(connection, this.held);
		this.queues = new Queues(connection, this.names);
	}

	/**
	 * Finds out whether leases can be kept in this etcd. Changes nothing.
	 * @param namespace the namespace of the jobs
	 * @throws UnusableStoreException if etcd answers that they cannot
	 * @throws LeaseStoreException if it does not answer
	 */
	public void probe(String namespace) {
		new EtcdProbe(this.connection, this.names.of(namespace)).run();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		ensureOpen();
		Attempt attempt = Attempt.of(request, this.names, this.attempts.incrementAndGet());
		HeldLease known = this.held.of(attempt.key());
		if (known != null && known.grant().owner().equals(request.owner())
				&& renew(List.of(known.grant())).get(0) == Renewal.EXTENDED) {
			return new Acquisition.Acquired(known.grant());
		}
		return new AcquireCall(this.connection, this.leases, this.held, attempt).perform();
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		List<HeldLease> own = grants.stream().map(this::held).filter(Objects::nonNull).toList();
		Map<HeldLease, Renewal> answers = own.isEmpty() ? Map.of()
				: new RenewalRound(this.connection, this.names, this.held, own).perform();
		Map<LeaseGrant, Renewal> renewals = new HashMap<>();
		answers.forEach((lease, answer) -> {
			if (answer == Renewal.GONE) {
				this.held.remove(lease);
			}
			renewals.put(lease.grant(), answer);
		});
		return grants.stream().map((grant) -> renewals.getOrDefault(grant, Renewal.GONE)).toList();
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		HeldLease granted = held(grant);
		if (granted == null || grant.fireTime() == null) {
			return false;
		}
		granted.complete(completed);
		return Replies
			.awaitUninterruptibly(this.connection.call((client) -> KeyTxns.record(client.getKVClient(), granted)),
					Replies.deadlineIn(granted.callTimeout()),
					"Recording in etcd what job '" + grant.job() + "' has completed")
			.isSucceeded();
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return KnownJob
			.look(this.connection, this.names.keys(job), timeout.dividedBy(3), Replies.deadlineIn(timeout),
					"Looking at the lease of job '" + job + "' in etcd")
			.summary();
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		long deadline = Replies.deadlineIn(timeout);
		String purpose = "Taking the lease of job '" + job + "' away in etcd";
		KnownJob known = KnownJob.look(this.connection, this.names.keys(job), timeout.dividedBy(3), deadline, purpose);
		KeyValue lease = known.lease();
		if (lease == null || known.summary().token() != token) {
			return false;
		}
		return Replies
			.await(this.connection
				.call((client) -> KeyTxns.delete(client.getKVClient(), lease.getKey(), lease.getCreateRevision())),
					deadline, purpose)
			.isSucceeded();
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		HeldLease granted = held(grant);
		if (granted == null) {
			return false;
		}
		granted.complete(completed);
		this.held.unsettled(granted.key());
		this.held.ending(granted);
		try {
			boolean released = Replies
				.awaitUninterruptibly(this.connection.call((client) -> KeyTxns.release(client.getKVClient(), granted)),
						Replies.deadlineIn(granted.callTimeout()),
						"Giving back the lease of job '" + grant.job() + "' in etcd")
				.isSucceeded();
			this.held.ended(granted);
			return released;
		}
		catch (LeaseStoreException ex) {
			granted.lease().retire();
			throw ex;
		}
		finally {
			this.held.settled(granted.key());
		}
	}

	/**
	 * Wakes one of those who stand by, when a lease was given back and when it has ended
	 * otherwise.
	 */
	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		ensureOpen();
		return this.queues.begin(job, ttl, freed);
	}

	/** What is kept of a grant until it is over, or null. */
	@Nullable HeldLease held(LeaseGrant grant) {
		return this.held.of(this.names.lease(grant.job()), grant);
	}

	private void ensureOpen() {
		if (this.closed) {
			throw new LeaseStoreException("The etcd lease store is closed", null);
		}
	}

	/** Ends all leases, and with them their keys. */
	@Override
	public void close() {
		this.closed = true;
		this.queues.close(CLOSING_TIME);
		this.leases.close(CLOSING_TIME);
		this.connection.close();
	}

}
