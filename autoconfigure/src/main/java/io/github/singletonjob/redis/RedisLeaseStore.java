package io.github.singletonjob.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.GrantedFireTime;
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
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Leases in Redis 6.2 or newer: one server, Sentinel or Cluster. The lease is the key
 * with a random value and a time to live that the Redis documentation describes as "the
 * correct implementation with a single instance"; what goes beyond it is the token.
 * <ol>
 * <li>One script acquires: if the lease's key is not there, it raises the job's token and
 * sets the key to owner, token and holder, for the time to live. A key that carries the
 * request's own owner is that grant, asked for again: it is answered with the same token.
 * Any other key means that the job is held, and nothing is written.</li>
 * <li>A token is greater than the last one, than the floor and than the server's clock in
 * milliseconds. So tokens still go up when the server was wiped, or when a replica is
 * promoted that has not seen the last grants. If the new server's clock lags more than
 * that, the fence notices, and the runtime asks again with a floor.</li>
 * <li>A firing is decided in the same script, before anything is written: the record of
 * the job, a hash, has the fire time of each schedule that was started last, the one that
 * was completed last, and the token that was given back last.</li>
 * <li>A renewal compares and sets the time to live, a release compares and deletes. All
 * renewals of a call leave in one flush, and each is answered by itself. Neither creates
 * a lease.</li>
 * <li>The client may send a request again whose answer was lost with the connection. That
 * is harmless for the first three; of a release that was sent twice and then did not find
 * the lease, nobody knows whether it was the first that deleted it: unknown.</li>
 * <li>Who stands by is told by a message, published in the script that releases. A lease
 * that expires is not announced.</li>
 * <li>A request without an answer in time is {@linkplain GivenUpGrants given up}.</li>
 * </ol>
 * The time to live counts from the execution in the server, so a deadline that counts
 * from the sending is earlier. It ends by the server's clock; stepping that clock ends
 * leases early or late. Token and record of a job never expire: two small keys for each
 * job that there ever was. A lease in Redis is not safe if the server loses what it has
 * confirmed; the fence in the database is what protects the data then.
 */
public final class RedisLeaseStore implements LeaseStore, AutoCloseable {

	private final StoreThreads threads = new StoreThreads();

	private final LeaseConnections connections;

	private final GivenUpGrants givenUp;

	private final Subscriptions subscriptions;

	private final RedisProbe probe;

	private final String keyPrefix;

	/**
	 * Creates a store; nothing is opened before the first call. It opens connections of
	 * its own, to where those of the factory lead.
	 * @param connectionFactory the application's, which has to be one of Lettuce
	 * @param keyPrefix how all keys of the store begin; no braces
	 * @throws UnusableStoreException if the factory is of another client
	 * @throws IllegalArgumentException if there are braces in the prefix
	 */
	public RedisLeaseStore(RedisConnectionFactory connectionFactory, String keyPrefix) {
		JobKeys.requireValid(keyPrefix);
		this.keyPrefix = keyPrefix;
		ConnectionSettings settings = ConnectionSettings.of(connectionFactory);
		this.connections = new LeaseConnections(settings, this.threads);
		this.subscriptions = new Subscriptions(settings, this.threads);
		this.givenUp = new GivenUpGrants(this.connections, this.threads);
		this.probe = new RedisProbe(this.connections, keyPrefix);
	}

	/**
	 * Finds out whether leases can be kept in this Redis. Takes two or three round trips,
	 * and writes a key that it deletes again.
	 * @throws UnusableStoreException if Redis answers that they cannot
	 * @throws LeaseStoreException if it does not answer
	 */
	public void probe() {
		this.probe.probe();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		requireUsable(request.owner());
		CallTime time = CallTime.interruptible(request.callTimeout());
		JobScripts scripts = scripts(request.job());
		LeaseConnection connection = this.connections.get(time);
		ScriptReply reply = connection.execute(List.of(scripts.acquire(request)), time).get(0);
		if (!reply.isAnswer()) {
			this.givenUp.add(request, scripts, connection);
		}
		Acquisition answer = Answers.acquisition(request, reply);
		if (answer == null) {
			throw RedisFailure.unknown("Asking for the lease of job '" + request.job() + "'", reply.failure());
		}
		return answer;
	}

	private void requireUsable(String owner) {
		if (owner.isEmpty() || owner.chars().anyMatch(Character::isWhitespace)) {
			throw new IllegalArgumentException("The owner '" + owner + "' must be a text without white space");
		}
		if (this.givenUp.contains(owner)) {
			throw new LeaseStoreException(
					"An earlier request of the same owner was not answered by Redis in time, and is being given up",
					null);
		}
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		CallTime time = CallTime.uninterruptible(grants.get(0).request().callTimeout());
		List<ScriptCommand> commands = grants.stream().map((grant) -> scripts(grant.job()).renew(grant)).toList();
		List<ScriptReply> replies = this.connections.get(time).execute(commands, time);
		List<Renewal> renewals = replies.stream().map(RedisLeaseStore::renewal).toList();
		if (renewals.stream().allMatch(Renewal.UNKNOWN::equals)) {
			throw RedisFailure.unknown("Renewing " + grants.size() + " lease(s) in Redis", replies.get(0).failure());
		}
		return renewals;
	}

	private static Renewal renewal(ScriptReply reply) {
		return switch (reply.verdict()) {
			case "extended" -> Renewal.EXTENDED;
			case "gone" -> Renewal.GONE;
			default -> Renewal.UNKNOWN;
		};
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		GrantedFireTime fireTime = grant.fireTime();
		if (fireTime == null) {
			return false;
		}
		ScriptReply reply = execute(scripts(grant.job()).complete(grant, fireTime, completed),
				grant.request().callTimeout());
		return switch (reply.verdict()) {
			case "completed" -> true;
			case "gone" -> false;
			default ->
				throw RedisFailure.unknown("Recording what job '" + grant.job() + "' has completed", reply.failure());
		};
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		ScriptReply reply = execute(scripts(grant.job()).release(JobScripts.mark(grant), grant.fireTime(), completed),
				grant.request().callTimeout());
		boolean gone = reply.verdict().equals("gone");
		if (!reply.verdict().equals("released") && (!gone || reply.repeated())) {
			throw RedisFailure.unknown("Giving back the lease of job '" + grant.job() + "'",
					gone ? new IllegalStateException("the connection was lost meanwhile, the lease is gone now")
							: reply.failure());
		}
		return !gone;
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		CallTime time = CallTime.interruptible(timeout);
		ScriptReply reply = this.connections.get(time).execute(List.of(scripts(job).inspect()), time).get(0);
		if (!reply.verdict().equals("seen")) {
			throw RedisFailure.unknown("Looking at the lease of job '" + job + "'", reply.failure());
		}
		return Answers.record(reply.texts());
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		ScriptReply reply = execute(scripts(job).revoke(token), timeout);
		boolean gone = reply.verdict().equals("gone") && !reply.repeated();
		if (!gone && !reply.verdict().equals("revoked")) {
			throw RedisFailure.unknown("Taking the lease of job '" + job + "' away", reply.failure());
		}
		return !gone;
	}

	/**
	 * Wakes all who stand by when a holder gives its lease back, not when a lease
	 * expires.
	 */
	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		return this.subscriptions.listen(scripts(job).keys().channel(), freed,
				CallTime.interruptible(ttl.dividedBy(3)));
	}

	/** Also on an interrupted thread. */
	private ScriptReply execute(ScriptCommand command, Duration timeout) {
		CallTime time = CallTime.uninterruptible(timeout);
		return this.connections.get(time).execute(List.of(command), time).get(0);
	}

	private JobScripts scripts(JobId job) {
		return JobScripts.of(this.keyPrefix, job);
	}

	/** Closes the connections; leases that are still held expire by themselves. */
	@Override
	public void close() {
		this.threads.close();
		this.subscriptions.close();
		this.connections.close();
	}

}
