package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
 * Leases in Postgres 14 or newer.
 * <ol>
 * <li>A lease is an advisory lock of a dedicated session whose
 * {@code idle_session_timeout} is the time to live: if the holder dies, the server sees
 * the connection end; if the holder is silent, the server ends the session. Either way
 * the lock is free, without a clock being compared.</li>
 * <li>The statement that takes the lock increments the job's row in
 * {@code singleton_job_lease}, which becomes the token: durable before the grant is
 * known, and only if the lock was had. A contended attempt writes nothing.</li>
 * <li>A renewal is one query on that session for all of its leases. It answers that the
 * session is still the one it was, and which rows still have our owner and token: an
 * operator takes a job away by clearing its row.</li>
 * <li>A release marks the row, records the fire time that was completed and frees the
 * lock, in one statement. Fire times are in {@code singleton_job_lease_fire_time}; the
 * acquiring statement decides by them and records which one is begun.</li>
 * </ol>
 * There is one session for each time to live in use, and for each call time-out where
 * these differ; it is closed when it was not needed for half of that time. A lost session
 * loses its leases, and the next attempt opens another. While somebody stands by, one
 * more connection is open for all who do.
 */
public final class PostgresLeaseStore implements LeaseStore, AutoCloseable {

	private final Claims claims = new Claims();

	private final PostgresProbe probe;

	private final Sessions sessions;

	private final LeaseWatches watches;

	/**
	 * Creates a store; nothing is opened before the first call.
	 * @param source where its connections come from
	 * @param applicationName how its sessions are called in {@code pg_stat_activity}
	 */
	public PostgresLeaseStore(SessionSource source, String applicationName) {
		this.probe = new PostgresProbe(source);
		this.sessions = new Sessions(source, applicationName, this.probe, this.claims);
		this.watches = new LeaseWatches(source, applicationName);
	}

	/**
	 * Finds out whether leases can be kept in this database. Done before the first grant,
	 * unless it was done before. Takes some round trips on two connections of its own.
	 * @throws UnusableStoreException if the database answers that they cannot
	 * @throws LeaseStoreException if it does not answer
	 */
	public void probe() {
		this.probe.ensurePassed();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		Claim claim = new Claim(request);
		Claim other = this.claims.enter(claim);
		if (other != null && isGranted(other, request)) {
			LeaseGrant grant = other.grant();
			if (grant != null && renew(List.of(grant)).get(0) == Renewal.EXTENDED) {
				return new Acquisition.Acquired(grant);
			}
			other = this.claims.enter(claim);
		}
		return (other != null) ? inTheWay(other, request)
				: new AcquireAttempt(claim, this.claims, this.sessions).make(request);
	}

	private static boolean isGranted(Claim claim, LeaseRequest request) {
		return claim.grant() != null && claim.owner().equals(request.owner());
	}

	private static Acquisition inTheWay(Claim other, LeaseRequest request) {
		if (other.isAbandoned() || other.owner().equals(request.owner())) {
			throw new LeaseStoreException(request.job().name() + ": an earlier request of this instance for its lease"
					+ " has not been answered by Postgres yet", null);
		}
		return new Acquisition.Held(other.holder());
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		Map<LeaseSession, List<Claim>> bySession = new HashMap<>();
		for (LeaseGrant grant : grants) {
			Claim claim = this.claims.of(grant);
			LeaseSession session = (claim != null) ? claim.session() : null;
			if (claim != null && session != null) {
				bySession.computeIfAbsent(session, (key) -> new ArrayList<>()).add(claim);
			}
		}
		Map<Claim, Renewal> answers = new HashMap<>();
		bySession.forEach((session, claimed) -> answers.putAll(renew(session, claimed)));
		List<Renewal> renewals = new ArrayList<>();
		for (LeaseGrant grant : grants) {
			Claim claim = this.claims.of(grant);
			renewals.add((claim != null) ? answers.getOrDefault(claim, Renewal.GONE) : Renewal.GONE);
		}
		return renewals;
	}

	private Map<Claim, Renewal> renew(LeaseSession session, List<Claim> claimed) {
		SessionCall<Map<Claim, Renewal>> call = new SessionCall<>(SessionCall.Rank.RENEW,
				"Renewing " + claimed.size() + " lease(s) in Postgres", new RenewWork(claimed, this.claims));
		session.submit(call);
		try {
			return call.await(SessionCall.deadlineIn(session.times().callTimeout()));
		}
		catch (SessionEndedException ex) {
			return Map.of();
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(call.purpose(), ex);
		}
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		Claim claim = this.claims.of(grant);
		LeaseSession session = (claim != null) ? claim.session() : null;
		if (claim == null || session == null) {
			return false;
		}
		SessionCall<Boolean> call = new SessionCall<>(SessionCall.Rank.RELEASE,
				grant.job().name() + ": recording that its fire time has run",
				new CompleteWork(claim, this.claims, completed));
		session.submit(call);
		return await(call, session.times());
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return new Inspection(job, timeout, this.sessions).make();
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		return new Inspection(job, timeout, this.sessions).revoke(token);
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		Claim claim = this.claims.of(grant);
		LeaseSession session = (claim != null) ? claim.session() : null;
		if (claim == null || session == null) {
			return false;
		}
		SessionCall<Boolean> call = new SessionCall<>(SessionCall.Rank.RELEASE,
				grant.job().name() + ": giving its lease back", new ReleaseWork(claim, this.claims, completed));
		SessionCall<Boolean> earlier = claim.releasing(call);
		if (earlier == null) {
			session.submit(call);
		}
		return await((earlier != null) ? earlier : call, session.times());
	}

	private static boolean await(SessionCall<Boolean> call, SessionTimes times) {
		try {
			return call.awaitUninterruptibly(SessionCall.deadlineIn(times.callTimeout()));
		}
		catch (SessionEndedException ex) {
			return false;
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(call.purpose(), ex);
		}
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Does not wait for the server: the connection for it is opened by another thread,
	 * again and again while the server cannot be reached. A release is known within
	 * milliseconds, the end of a session within half a second.
	 */
	@Override
	public LeaseWatch watch(JobId job, Duration ttl, Runnable freed) {
		return this.watches.add(job, freed);
	}

	/** Ends all sessions, and with them, on the server, all leases. */
	@Override
	public void close() {
		this.watches.close();
		this.sessions.close();
	}

}
