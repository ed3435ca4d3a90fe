package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One who stands by for a job: has a key in the queue of the job, and watches the key
 * before it; the head of the queue watches the lease. So the end of a lease is an event
 * for one. The idea is that of etcd's own elections, there without a lease beside the
 * queue. All but {@link #close} and {@link #ready} is done on the {@link QueueThread}.
 */
final class QueueMember implements LeaseWatch {

	private static final Log logger = LogFactory.getLog(QueueMember.class);

	private static final Duration PAUSE = Duration.ofMillis(500);

	/** How long one who leaves the queue to take the job has for that. */
	private static final Duration GRACE = Duration.ofMillis(300);

	private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();

	private final EtcdConnection connection;

	private final QueueThread thread;

	private final QueueLease lease;

	private final QueuePlace place;

	private final Runnable freed;

	private final KeyWatch watch;

	private boolean pausing;

	private volatile boolean closed;

	QueueMember(EtcdConnection connection, QueueThread thread, QueueLease lease, QueuePlace place, Runnable freed) {
		this.connection = connection;
		this.thread = thread;
		this.lease = lease;
		this.place = place;
		this.freed = freed;
		this.watch = new KeyWatch(connection, thread);
	}

	/** Done when something is watched for the first time. */
	CompletableFuture<?> ready() {
		return this.ready;
	}

	/** Takes a place at the end of the queue, if it has none. */
	void enqueue() {
		if (this.closed) {
			return;
		}
		CompletableFuture<?> unused = this.lease.join(this)
			.thenCompose((id) -> this.connection
				.call((client) -> KeyTxns.enqueue(client.getKVClient(), this.place.key(id), id)))
			.orTimeout(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS)
			.whenComplete((reply, failure) -> this.thread.execute(() -> enqueued(reply, failure)));
	}

	private void enqueued(@Nullable TxnResponse reply, @Nullable Throwable failure) {
		if (this.closed) {
			leave();
		}
		else if (reply == null) {
			again(failure);
		}
		else {
			look(reply.getGetResponses().get(0).getKvs().get(0), Duration.ZERO);
		}
	}

	/**
	 * Looks for what to watch.
	 * @param grace how long to wait before it is said that nobody has the job
	 */
	private void look(KeyValue own, Duration grace) {
		if (this.closed) {
			return;
		}
		CompletableFuture<?> unused = this.connection
			.call((client) -> KeyTxns.lookAhead(client.getKVClient(), this.place, own.getCreateRevision()))
			.orTimeout(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS)
			.whenComplete((reply, failure) -> this.thread.execute(() -> looked(own, grace, reply, failure)));
	}

	private void looked(KeyValue own, Duration grace, @Nullable TxnResponse reply, @Nullable Throwable failure) {
		if (this.closed) {
			return;
		}
		if (reply == null) {
			again(failure);
			return;
		}
		List<GetResponse> seen = reply.getGetResponses();
		Optional<ByteSequence> before = before(own, seen.get(0).getKvs());
		this.watch.start(before.orElseGet(this.place::leaseKey), reply.getHeader().getRevision() + 1,
				before.isPresent() ? () -> look(own, GRACE) : this::tell, () -> again(null));
		this.ready.complete(null);
		boolean free = before.isEmpty() && seen.get(1).getKvs().isEmpty();
		if (free && grace.isZero()) {
			tell();
		}
		else if (free) {
			// Whoever was before may have left to take the job
			this.thread.after(grace, () -> look(own, Duration.ZERO));
		}
	}

	private static Optional<ByteSequence> before(KeyValue own, List<KeyValue> others) {
		return others.stream()
			.filter((other) -> other.getCreateRevision() < own.getCreateRevision())
			.max(Comparator.comparingLong(KeyValue::getCreateRevision))
			.map(KeyValue::getKey);
	}

	private void tell() {
		if (!this.closed) {
			this.freed.run();
		}
	}

	/** Some time later, so that an etcd that does not answer costs nothing. */
	private void again(@Nullable Throwable failure) {
		if (this.closed || this.pausing) {
			return;
		}
		this.watch.stop();
		logger.debug("Standing by for " + this.place.job() + " begins again"
				+ ((failure != null) ? ", because etcd or its client says " + EtcdFailure.code(failure) : ""));
		this.pausing = true;
		this.thread.after(PAUSE.plusMillis(ThreadLocalRandom.current().nextLong(PAUSE.toMillis())), () -> {
			this.pausing = false;
			enqueue();
		});
	}

	private void leave() {
		end();
		this.lease.leave(this);
		for (ByteSequence key : this.place.taken()) {
			this.connection.callAside((client) -> client.getKVClient().delete(key),
					(answered) -> logger.debug("Stood by for " + this.place.job()));
		}
	}

	/** Neither listens nor comes back. */
	void end() {
		this.closed = true;
		this.watch.stop();
	}

	@Override
	public void close() {
		if (!this.closed) {
			this.closed = true;
			this.thread.execute(this::leave);
		}
	}

}
