package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import org.jspecify.annotations.Nullable;

/**
 * The lease of etcd to which the queue keys of this instance are attached: if the
 * instance dies it does not stand by any more. It is another one than that of the jobs
 * that are held, because it is renewed for as long as somebody stands by, and must not
 * keep a job that its holder has given up. Used on the {@link QueueThread} only.
 */
final class QueueLease {

	private final Set<QueueMember> members = ConcurrentHashMap.newKeySet();

	private final EtcdConnection connection;

	private final QueueThread thread;

	private final Duration ttl;

	private @Nullable CompletableFuture<Long> id;

	private boolean ticking;

	QueueLease(EtcdConnection connection, QueueThread thread, Duration ttl) {
		this.connection = connection;
		this.thread = thread;
		this.ttl = ttl;
	}

	/** The lease, opened if necessary, kept until everybody has left. */
	CompletableFuture<Long> join(QueueMember member) {
		this.members.add(member);
		CompletableFuture<Long> current = this.id;
		if (current == null || current.isCompletedExceptionally()) {
			current = this.connection.call((client) -> client.getLeaseClient().grant(SharedLeases.seconds(this.ttl)))
				.orTimeout(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS)
				.thenApply((reply) -> reply.getID());
			this.id = current;
		}
		tickLater();
		return current;
	}

	/** Ends the lease with the last member, and with it all that is left of them. */
	void leave(QueueMember member) {
		this.members.remove(member);
		if (this.members.isEmpty()) {
			CompletableFuture<Void> unused = revoke();
		}
	}

	/**
	 * Nobody stands by any more.
	 * @return done when etcd has answered, or there was nothing to do
	 */
	CompletableFuture<Void> end() {
		this.members.forEach(QueueMember::end);
		this.members.clear();
		return revoke();
	}

	private CompletableFuture<Void> revoke() {
		CompletableFuture<Long> last = this.id;
		this.id = null;
		return (last == null) ? CompletableFuture.completedFuture(null)
				: last.thenCompose((number) -> this.connection.call((client) -> client.getLeaseClient().revoke(number)))
					.thenAccept((reply) -> {
					});
	}

	private void tickLater() {
		if (!this.ticking) {
			this.ticking = true;
			this.thread.after(this.ttl.dividedBy(3), this::tick);
		}
	}

	private void tick() {
		this.ticking = false;
		if (this.members.isEmpty()) {
			return;
		}
		tickLater();
		CompletableFuture<Long> current = this.id;
		if (current != null && current.isDone() && !current.isCompletedExceptionally()) {
			keep(current, current.join());
		}
	}

	private void keep(CompletableFuture<Long> current, long number) {
		CompletableFuture<LeaseKeepAliveResponse> unused = this.connection
			.ask((client) -> client.getLeaseClient().keepAliveOnce(number), this.ttl.dividedBy(9))
			.whenComplete((reply, failure) -> {
				boolean over = (failure != null) ? EtcdFailure.isLeaseNotFound(failure) : reply.getTTL() <= 0;
				if (over) {
					this.thread.execute(() -> ended(current));
				}
			});
	}

	private void ended(CompletableFuture<Long> over) {
		if (this.id == over) {
			this.id = null;
			List.copyOf(this.members).forEach(QueueMember::enqueue);
		}
	}

}
