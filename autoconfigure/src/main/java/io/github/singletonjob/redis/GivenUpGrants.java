package io.github.singletonjob.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.LeaseRequest;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gives up what may have been granted to a request whose answer did not come. The first
 * attempt follows the request on the same connection, so that Redis executes it after the
 * request, whenever that is. It is repeated until a lease was deleted, or would have
 * expired by itself.
 */
final class GivenUpGrants {

	private static final Log logger = LogFactory.getLog(GivenUpGrants.class);

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(50);

	private final Set<String> owners = ConcurrentHashMap.newKeySet();

	private final LeaseConnections connections;

	private final StoreThreads threads;

	GivenUpGrants(LeaseConnections connections, StoreThreads threads) {
		this.connections = connections;
		this.threads = threads;
	}

	/** Whether a grant of this owner would be deleted again. */
	boolean contains(String owner) {
		return this.owners.contains(owner);
	}

	void add(LeaseRequest request, JobScripts scripts, LeaseConnection asked) {
		this.owners.add(request.owner());
		long end = System.nanoTime() + request.ttl().toNanos();
		attempt(new Attempt(request, scripts, end), asked);
	}

	private void attempt(Attempt attempt, @Nullable LeaseConnection connection) {
		ScriptCommand release = (connection != null) ? attempt.release() : null;
		if (connection != null && release != null) {
			connection.start(release);
		}
		this.threads.after(attempt.pause(), () -> lookAt(attempt, release));
	}

	private void lookAt(Attempt attempt, @Nullable ScriptCommand release) {
		ScriptReply reply = (release != null) ? ScriptReply.of(release) : null;
		boolean deleted = reply != null && reply.verdict().equals("released");
		if (deleted) {
			logger.info(attempt.request().job().name()
					+ ": Redis had granted the lease, but its answer was too late; it was given up");
		}
		if (deleted || System.nanoTime() - attempt.end() >= 0) {
			this.owners.remove(attempt.request().owner());
			return;
		}
		attempt(attempt, this.connections.peek());
	}

	/**
	 * What is to be given up.
	 *
	 * @param request the request that was not answered
	 * @param scripts the scripts of its job
	 * @param end when a lease would be over by itself, in {@link System#nanoTime()}
	 */
	private record Attempt(LeaseRequest request, JobScripts scripts, long end) {

		ScriptCommand release() {
			return this.scripts.release(this.request.owner() + ' ', null, null);
		}

		Duration pause() {
			Duration timeout = this.request.callTimeout();
			return (timeout.compareTo(SHORTEST_PAUSE) > 0) ? timeout : SHORTEST_PAUSE;
		}

	}

}
