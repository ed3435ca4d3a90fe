package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.BackgroundThreads;
import io.github.singletonjob.lease.LeaseRequest;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Requests whose answer did not come: what may have been granted to them is given back.
 * The first attempt follows the request on the same connection, so that Redis executes it
 * after the request, whenever that is. It is repeated until a lease was deleted, or would
 * have expired by itself.
 */
final class AbandonedRequests {

	private static final Log logger = LogFactory.getLog(AbandonedRequests.class);

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(50);

	private final Set<String> owners = ConcurrentHashMap.newKeySet();

	private final RedisConnections connections;

	private final BackgroundThreads threads;

	AbandonedRequests(RedisConnections connections, BackgroundThreads threads) {
		this.connections = connections;
		this.threads = threads;
	}

	/** Whether a grant of this owner would be deleted again. */
	boolean contains(String owner) {
		return this.owners.contains(owner);
	}

	void add(LeaseRequest request, RedisJob job, RedisConnections.Connection asked) {
		this.owners.add(request.owner());
		giveUp(request, job, asked, System.nanoTime() + request.ttl().toNanos());
	}

	/** By then, in {@link System#nanoTime()}, a lease would be over by itself. */
	private void giveUp(LeaseRequest request, RedisJob job, RedisConnections.@Nullable Connection connection,
			long end) {
		ScriptCall release = job.release(request);
		if (connection != null) {
			connection.start(release);
		}
		Duration timeout = request.callTimeout();
		Duration pause = (timeout.compareTo(SHORTEST_PAUSE) > 0) ? timeout : SHORTEST_PAUSE;
		this.threads.after(pause, () -> {
			release.end(false);
			boolean deleted = release.verdict().equals("released");
			if (deleted) {
				logger.info(request.job().name()
						+ ": Redis had granted the lease, but its answer was too late; it was given up");
			}
			if (deleted || System.nanoTime() - end >= 0) {
				this.owners.remove(request.owner());
			}
			else {
				giveUp(request, job, this.connections.peek(), end);
			}
		});
	}

}
