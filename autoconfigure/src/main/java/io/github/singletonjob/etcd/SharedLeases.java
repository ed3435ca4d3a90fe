package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The leases of etcd that this instance has: for each time to live one that takes keys,
 * and older ones that are kept for as long as they have keys.
 */
final class SharedLeases {

	private static final Log logger = LogFactory.getLog(SharedLeases.class);

	private final Map<Duration, SharedLease> current = new ConcurrentHashMap<>();

	private final Map<Duration, CompletableFuture<SharedLease>> opening = new ConcurrentHashMap<>();

	private final Set<SharedLease> known = ConcurrentHashMap.newKeySet();

	private final EtcdConnection connection;

	private final HeldLeases held;

	private volatile boolean closed;

	SharedLeases(EtcdConnection connection, HeldLeases held) {
		this.connection = connection;
		this.held = held;
	}

	/** The lease that takes keys, or null if it is likely to be over or has to end. */
	@Nullable SharedLease usable(Duration ttl) {
		SharedLease last = this.current.get(ttl);
		boolean usable = last != null && !last.isRetired()
				&& (last.age().compareTo(ttl.dividedBy(2)) < 0 || this.held.anyOn(last));
		return usable ? last : null;
	}

	/** A new lease; those who ask at the same time share it. */
	CompletableFuture<SharedLease> open(Duration ttl) {
		CompletableFuture<SharedLease> fresh = new CompletableFuture<>();
		CompletableFuture<SharedLease> running = this.opening.putIfAbsent(ttl, fresh);
		if (running != null) {
			return running;
		}
		SharedLease opened = usable(ttl);
		if (opened != null) {
			this.opening.remove(ttl);
			fresh.complete(opened);
			return fresh;
		}
		long sent = System.nanoTime();
		CompletableFuture<SharedLease> unused = this.connection
			.call((client) -> client.getLeaseClient().grant(seconds(ttl)))
			.orTimeout(CallLimit.LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS)
			.thenApply((reply) -> opened(new SharedLease(reply.getID(), ttl, sent)))
			.whenComplete((lease, failure) -> {
				this.opening.remove(ttl);
				end(fresh, lease, failure);
			});
		return fresh;
	}

	private SharedLease opened(SharedLease lease) {
		this.known.removeIf((old) -> old.age().compareTo(old.ttl().multipliedBy(2)) > 0 && !this.held.anyOn(old));
		this.known.add(lease);
		this.current.put(lease.ttl(), lease);
		if (this.closed) {
			CompletableFuture<Void> unused = revokeAll();
		}
		return lease;
	}

	private static void end(CompletableFuture<SharedLease> fresh, @Nullable SharedLease lease,
			@Nullable Throwable failure) {
		if (lease != null) {
			fresh.complete(lease);
		}
		else {
			fresh.completeExceptionally((failure != null) ? failure : new IllegalStateException("No lease"));
		}
	}

	/** Whole seconds are all that etcd can do: never less than what was asked for. */
	static long seconds(Duration ttl) {
		return ttl.plusSeconds(1).minusNanos(1).toSeconds();
	}

	/** It is over at etcd. */
	void drop(SharedLease lease) {
		lease.retire();
		this.known.remove(lease);
	}

	/** Ends all leases, and with them their keys. */
	void close(Duration atMost) {
		this.closed = true;
		try {
			revokeAll().get(atMost.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("Leases of etcd were not ended, they expire by themselves: " + EtcdFailure.code(ex));
		}
	}

	private CompletableFuture<Void> revokeAll() {
		List<SharedLease> open = List.copyOf(this.known);
		this.known.removeAll(open);
		open.forEach(SharedLease::retire);
		return CompletableFuture.allOf(open.stream()
			.map((lease) -> this.connection.call((client) -> client.getLeaseClient().revoke(lease.id())))
			.toArray(CompletableFuture[]::new));
	}

}
