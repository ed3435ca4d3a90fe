package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
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
final class StandBy implements LeaseWatch {

	private static final Log logger = LogFactory.getLog(StandBy.class);

	private static final Duration PAUSE = Duration.ofMillis(500);

	private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();

	private final EtcdConnection connection;

	private final QueueThread thread;

	private final QueueLease lease;

	private final QueuePlace place;

	private final Runnable freed;

	private Watch.@Nullable Watcher watcher;

	private int watch;

	private boolean pausing;

	private volatile boolean closed;

	StandBy(EtcdConnection connection, QueueThread thread, QueueLease lease, QueuePlace place, Runnable freed) {
		this.connection = connection;
		this.thread = thread;
		this.lease = lease;
		this.place = place;
		this.freed = freed;
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
			look(reply.getGetResponses().get(0).getKvs().get(0));
		}
	}

	private void look(KeyValue own) {
		CompletableFuture<?> unused = this.connection
			.call((client) -> KeyTxns.lookAhead(client.getKVClient(), this.place, own.getCreateRevision()))
			.orTimeout(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS)
			.whenComplete((reply, failure) -> this.thread.execute(() -> looked(own, reply, failure)));
	}

	private void looked(KeyValue own, @Nullable TxnResponse reply, @Nullable Throwable failure) {
		if (this.closed) {
			return;
		}
		if (reply == null) {
			again(failure);
			return;
		}
		Optional<KeyValue> before = reply.getGetResponses()
			.get(0)
			.getKvs()
			.stream()
			.filter((other) -> other.getCreateRevision() < own.getCreateRevision())
			.max(Comparator.comparingLong(KeyValue::getCreateRevision));
		boolean held = !reply.getGetResponses().get(1).getKvs().isEmpty();
		watch(before.map(KeyValue::getKey).orElseGet(this.place::leaseKey), reply.getHeader().getRevision() + 1,
				before.isPresent() ? () -> look(own) : this.freed);
		this.ready.complete(null);
		if (before.isEmpty() && !held) {
			this.freed.run();
		}
	}

	private void watch(ByteSequence key, long revision, Runnable deleted) {
		stopWatching();
		int current = this.watch;
		try {
			this.watcher = this.connection.watch(key, revision, new Watch.Listener() {
				@Override
				public void onNext(WatchResponse response) {
					if (response.getEvents()
						.stream()
						.anyMatch((event) -> event.getEventType() == WatchEvent.EventType.DELETE)) {
						whileWatching(current, deleted);
					}
				}

				@Override
				public void onError(Throwable failure) {
					whileWatching(current, () -> again(failure));
				}

				@Override
				public void onCompleted() {
					whileWatching(current, () -> again(null));
				}
			});
		}
		catch (RuntimeException ex) {
			again(ex); // a client that is closed, for example
		}
	}

	private void whileWatching(int expected, Runnable task) {
		this.thread.execute(() -> {
			if (!this.closed && this.watch == expected) {
				task.run();
			}
		});
	}

	/** What it was told before does not count any more. */
	private void stopWatching() {
		this.watch++;
		Watch.Watcher last = this.watcher;
		this.watcher = null;
		if (last != null) {
			last.close();
		}
	}

	/** Some time later, so that an etcd that does not answer costs nothing. */
	private void again(@Nullable Throwable failure) {
		if (this.closed || this.pausing) {
			return;
		}
		stopWatching();
		logger.debug("Standing by for " + this.place.job() + " begins again"
				+ ((failure != null) ? ", because etcd or its client says " + EtcdFailure.code(failure) : ""));
		this.pausing = true;
		this.thread.after(PAUSE.plusMillis(ThreadLocalRandom.current().nextLong(PAUSE.toMillis())), () -> {
			this.pausing = false;
			enqueue();
		});
	}

	private void leave() {
		stopWatching();
		this.lease.leave(this);
		for (ByteSequence key : this.place.taken()) {
			this.connection.callAside((client) -> client.getKVClient().delete(key),
					(answered) -> logger.debug("Stood by for " + this.place.job()));
		}
	}

	@Override
	public void close() {
		if (!this.closed) {
			this.closed = true;
			this.thread.execute(this::leave);
		}
	}

}
