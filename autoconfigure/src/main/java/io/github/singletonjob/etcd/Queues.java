package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Those of this instance who stand by.
 */
final class Queues {

	private static final Log logger = LogFactory.getLog(Queues.class);

	private final Map<Duration, QueueLease> leases = new ConcurrentHashMap<>();

	private final QueueThread thread = new QueueThread();

	private final AtomicLong number = new AtomicLong();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final EtcdConnection connection;

	private final KeyNames names;

	Queues(EtcdConnection connection, KeyNames names) {
		this.connection = connection;
		this.names = names;
	}

	/**
	 * Begins to stand by. If etcd does not answer in time, that goes on in the
	 * background.
	 */
	LeaseWatch begin(JobId job, Duration ttl, Runnable freed) {
		QueueLease lease = this.leases.computeIfAbsent(ttl,
				(time) -> new QueueLease(this.connection, this.thread, time));
		QueuePlace place = QueuePlace.of(job, this.names, this.number.incrementAndGet());
		QueueMember member = new QueueMember(this.connection, this.thread, lease, place, freed);
		this.thread.execute(member::enqueue);
		Duration time = ttl.dividedBy(3);
		try {
			member.ready().get(Math.min(time.toMillis(), CallLimit.LONGEST_CALL.toMillis()), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("Standing by for " + job + ": no answer from etcd yet");
		}
		return member;
	}

	/** Nobody stands by any more; returns when etcd has answered, or the time is over. */
	void close(Duration atMost) {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		CompletableFuture<Void> done = new CompletableFuture<>();
		this.thread.execute(() -> {
			CompletableFuture<?>[] revoked = this.leases.values()
				.stream()
				.map(QueueLease::end)
				.toArray(CompletableFuture[]::new);
			CompletableFuture<Void> unused = CompletableFuture.allOf(revoked)
				.whenComplete((all, failure) -> done.complete(null));
		});
		try {
			Replies.await(done, Replies.deadlineIn(atMost), "Ending to stand by");
		}
		catch (LeaseStoreException ex) {
			logger.debug("The places in the queues of etcd were not left, they expire by themselves", ex);
		}
		finally {
			this.thread.close();
		}
	}

}
