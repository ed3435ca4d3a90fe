package io.github.singletonjob.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.BackgroundThreads;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeaseWatch;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.lease.StoreCall;
import io.github.singletonjob.lease.UnusableStoreException;
import io.github.singletonjob.redis.RedisConnections.Connection;
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
 * <li>If a connection is lost, the client sends what has no answer again on the next one.
 * That does no harm, except that a release may then not find the lease because its first
 * execution has deleted it: the outcome is unknown.</li>
 * <li>Stand-bys are woken by a message, published in the script that releases. A lease
 * that expires is not announced.</li>
 * <li>What may have been granted to a request without an answer in time is
 * {@linkplain AbandonedRequests given back}.</li>
 * </ol>
 * The time to live counts from the execution in the server, so a deadline that counts
 * from the sending is earlier. It ends by the server's clock; stepping that clock ends
 * leases early or late. Token and record of a job never expire: two small keys for each
 * job that there ever was. A lease in Redis is not safe if the server loses what it has
 * confirmed; the fence in the database is what protects the data then.
 */
public final class RedisLeaseStore implements LeaseStore, AutoCloseable {

	/** Without a reply for so long the call counts as lost, however long the lease is. */
	private static final Duration LONGEST_CALL = Duration.ofSeconds(10);

	private static final String STARTED = "s:";

	private static final String COMPLETED = "c:";

	/** Two to connect, one for what is to be done later. */
	private final BackgroundThreads threads = new BackgroundThreads("singleton-job-redis", 3);

	private final RedisConnections connections;

	private final AbandonedRequests abandoned;

	private final RedisStandBys standBys;

	private final RedisCheck check;

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
		RedisJob.requireValidPrefix(keyPrefix);
		this.keyPrefix = keyPrefix;
		this.connections = new RedisConnections(connectionFactory, this.threads);
		this.standBys = new RedisStandBys(this.connections, this.threads);
		this.abandoned = new AbandonedRequests(this.connections, this.threads);
		this.check = new RedisCheck(this.connections, keyPrefix);
	}

	/**
	 * Finds out whether leases can be kept in this Redis. Takes two or three round trips,
	 * and writes a key that it deletes again.
	 * @throws UnusableStoreException if Redis answers that they cannot
	 * @throws LeaseStoreException if it does not answer
	 */
	public void probe() {
		this.check.run();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		requireUsable(request.owner());
		StoreCall call = StoreCall.interruptible("Asking for the lease of job '" + request.job() + "'",
				limited(request.callTimeout()));
		RedisJob job = job(request.job());
		Connection connection = this.connections.get(call);
		ScriptCall script = job.acquire(request);
		connection.execute(List.of(script), call);
		if (!script.isAnswered()) {
			this.abandoned.add(request, job, connection);
		}
		List<String> texts = script.texts();
		return switch (script.verdict()) {
			case "granted" -> new Acquisition.Acquired(grant(request, texts));
			case "held" -> new Acquisition.Held((texts.size() > 1) ? texts.get(1) : null);
			case "ran" -> new Acquisition.AlreadyRan(instant(texts.get(1)));
			case "early" -> new Acquisition.Early(Objects.requireNonNull(instant(texts.get(1))));
			default -> throw RedisFailure.unknown(call, script.failure());
		};
	}

	private void requireUsable(String owner) {
		if (owner.isEmpty() || owner.chars().anyMatch(Character::isWhitespace)) {
			throw new IllegalArgumentException("The owner '" + owner + "' must be a text without white space");
		}
		if (this.abandoned.contains(owner)) {
			throw new LeaseStoreException(
					"An earlier request of the same owner was not answered by Redis in time, and is being given up",
					null);
		}
	}

	private static LeaseGrant grant(LeaseRequest request, List<String> texts) {
		String[] run = texts.get(2).split("/", -1);
		return new LeaseGrant(request, Long.parseLong(texts.get(1)), fireTime(request.firing(), run),
				run[3].equals("1"));
	}

	/** Redis keeps milliseconds; the firing's own fire time may be finer than that. */
	private static @Nullable GrantedFireTime fireTime(@Nullable Firing firing, String[] run) {
		Instant granted = instant(run[0]);
		if (firing == null || granted == null) {
			return null;
		}
		boolean takeover = run[1].equals("1");
		Instant due = firing.fireTime();
		return new GrantedFireTime(firing, (takeover || due == null) ? granted : due, takeover, instant(run[2]));
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		StoreCall call = StoreCall.uninterruptible("Renewing " + grants.size() + " lease(s) in Redis",
				limited(grants.get(0).request().callTimeout()));
		List<ScriptCall> scripts = grants.stream().map((grant) -> job(grant.job()).renew(grant)).toList();
		this.connections.get(call).execute(scripts, call);
		List<Renewal> renewals = scripts.stream().map(RedisLeaseStore::renewal).toList();
		if (renewals.stream().allMatch(Renewal.UNKNOWN::equals)) {
			throw RedisFailure.unknown(call, scripts.get(0).failure());
		}
		return renewals;
	}

	private static Renewal renewal(ScriptCall script) {
		return switch (script.verdict()) {
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
		StoreCall call = StoreCall.uninterruptible("Recording what job '" + grant.job() + "' has completed",
				limited(grant.request().callTimeout()));
		ScriptCall script = execute(job(grant.job()).complete(grant, fireTime, completed), call);
		return switch (script.verdict()) {
			case "completed" -> true;
			case "gone" -> false;
			default -> throw RedisFailure.unknown(call, script.failure());
		};
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		StoreCall call = StoreCall.uninterruptible("Giving back the lease of job '" + grant.job() + "'",
				limited(grant.request().callTimeout()));
		return deleted(execute(job(grant.job()).release(grant, completed), call), "released", call);
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		StoreCall call = StoreCall.uninterruptible("Taking the lease of job '" + job + "' away", limited(timeout));
		return deleted(execute(job(job).revoke(token), call), "revoked", call);
	}

	private static boolean deleted(ScriptCall script, String verdict, StoreCall call) {
		if (script.verdict().equals(verdict)) {
			return true;
		}
		if (script.isGone()) {
			return false;
		}
		throw script.verdict().equals("gone")
				? call.unknown("the connection was lost meanwhile, and the lease is gone now", null)
				: RedisFailure.unknown(call, script.failure());
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		StoreCall call = StoreCall.interruptible("Looking at the lease of job '" + job + "'", limited(timeout));
		ScriptCall script = execute(job(job).inspect(), call);
		if (!script.verdict().equals("seen")) {
			throw RedisFailure.unknown(call, script.failure());
		}
		List<String> texts = script.texts();
		String lease = texts.get(1);
		String[] parts = lease.split(" ", 4);
		long expiry = Long.parseLong(texts.get(2));
		boolean held = !lease.isEmpty();
		return new LeaseRecord(held, (held && parts.length == 4) ? parts[3] : null, Long.parseLong(texts.get(3)),
				(held && expiry >= 0) ? Duration.ofMillis(Math.max(1, expiry)) : null,
				fireTimes(texts.subList(4, texts.size())));
	}

	private static Map<String, FireTimes> fireTimes(List<String> fields) {
		Map<String, FireTimes> known = new HashMap<>();
		for (int i = 0; i + 1 < fields.size(); i += 2) {
			String field = fields.get(i);
			if (field.startsWith(STARTED) || field.startsWith(COMPLETED)) {
				Instant instant = instant(fields.get(i + 1));
				FireTimes one = field.startsWith(STARTED) ? new FireTimes(instant, null) : new FireTimes(null, instant);
				known.merge(field.substring(STARTED.length()), one, FireTimes::and);
			}
		}
		return known;
	}

	private static @Nullable Instant instant(String millis) {
		return millis.isEmpty() ? null : Instant.ofEpochMilli(Long.parseLong(millis));
	}

	/**
	 * Wakes all stand-bys when a holder gives its lease back, not when a lease expires.
	 */
	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		return this.standBys.add(job(job).channel(), freed,
				StoreCall.interruptible("Standing by for job '" + job + "'", limited(ttl.dividedBy(3))));
	}

	private ScriptCall execute(ScriptCall script, StoreCall call) {
		this.connections.get(call).execute(List.of(script), call);
		return script;
	}

	private static Duration limited(Duration timeout) {
		return (timeout.compareTo(LONGEST_CALL) < 0) ? timeout : LONGEST_CALL;
	}

	private RedisJob job(JobId job) {
		return RedisJob.of(this.keyPrefix, job);
	}

	/** Closes the connections; leases that are still held expire by themselves. */
	@Override
	public void close() {
		this.threads.close();
		this.standBys.close();
		this.connections.close();
	}

}
