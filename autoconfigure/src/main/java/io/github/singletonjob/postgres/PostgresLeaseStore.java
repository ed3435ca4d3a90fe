package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

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
import io.github.singletonjob.postgres.LeaseSession.EndedException;
import io.github.singletonjob.postgres.LeaseSession.Times;
import io.github.singletonjob.postgres.LeaseStatements.Ended;
import org.jspecify.annotations.Nullable;

/**
 * Leases in Postgres 14 or newer.
 * <ol>
 * <li>A lease is an advisory lock of a dedicated session whose
 * {@code idle_session_timeout} is the time to live: if the holder dies, the server sees
 * the connection end; if the holder is silent, the server ends the session. Either way
 * the lock is free, without a clock being compared.</li>
 * <li>Under the lock, the job's row in {@code singleton_job_lease} gets the next token,
 * which is durable before the grant is known. A contended attempt writes nothing. If the
 * session has no other lease, one statement does both. Otherwise it only takes the lock,
 * and another session mints the token: a commit can wait for a disk or for a synchronous
 * standby without end, and the renewals of the other leases must not wait behind it. That
 * session may mint late, when the lock is lost already; so it compares the token that was
 * read under the lock.</li>
 * <li>A renewal is one query on the session of the locks for all of its leases. It
 * answers that the session is still the one it was, and which rows still have our owner
 * and token: an operator takes a job away by clearing its row.</li>
 * <li>A release marks the row, records the fire time that was completed and frees the
 * lock; with other leases on the session, what has to be durable is again written by
 * another one first. Fire times are in {@code singleton_job_lease_fire_time}; the
 * acquiring statement decides by them and records which one is begun.</li>
 * </ol>
 * Calls that have to wait are sent together. There is one session with locks for each
 * time to live in use, and for each call time-out where these differ; it is closed when
 * it was not needed for half of that time. A lost session loses its leases, and the next
 * attempt opens another. While somebody stands by, one more connection is open for all
 * who do.
 */
public final class PostgresLeaseStore implements LeaseStore, AutoCloseable {

	/** The time to live of a session that is opened for looks, in call time-outs. */
	private static final int PATIENCE_OF_LOOKS = 9;

	/** Names of jobs can be made up without end. */
	private static final int MOST_REMEMBERED = 10_000;

	private final ConcurrentMap<JobId, Claim> claims = new ConcurrentHashMap<>();

	private final Set<JobId> lostLast = ConcurrentHashMap.newKeySet();

	private final PostgresCheck check;

	private final Sessions sessions;

	private final StandBys standBys;

	/**
	 * Creates a store; nothing is opened before the first call.
	 * @param source where its connections come from
	 * @param applicationName how its sessions are called in {@code pg_stat_activity}
	 */
	public PostgresLeaseStore(SessionSource source, String applicationName) {
		this.check = new PostgresCheck(source);
		this.sessions = new Sessions(source, applicationName, this.check);
		this.standBys = new StandBys(source, applicationName + " watch");
	}

	/**
	 * Finds out whether leases can be kept in this database. Done before the first grant,
	 * unless it was done before. Takes some round trips on two connections of its own.
	 * @throws UnusableStoreException if the database answers that they cannot
	 * @throws LeaseStoreException if it does not answer
	 */
	public void probe() {
		this.check.ensurePassed();
	}

	@Override
	public Acquisition tryAcquire(LeaseRequest request) {
		Times times = Times.of(request);
		long openBy = LeaseSession.deadlineIn(times.openingTimeout());
		try {
			return askOnce(request, times, openBy);
		}
		catch (EndedException ended) {
			// Its end was noticed only now; another one in the same attempt is an outage
			try {
				return askOnce(request, times, openBy);
			}
			catch (EndedException ex) {
				throw new LeaseStoreException(new Claim(request).purpose() + " failed: " + ex.getMessage(), ex);
			}
		}
	}

	private Acquisition askOnce(LeaseRequest request, Times times, long openBy) throws EndedException {
		long deadline = LeaseSession.deadlineIn(times.callTimeout());
		Claim claim = new Claim(request, this.lostLast.contains(request.job()));
		for (Claim other = enter(claim); other != null; other = enter(claim)) {
			Acquisition answer = inTheWay(other, request, deadline);
			if (answer != null) {
				return answer;
			}
		}
		boolean settled = false;
		try {
			Acquisition answer = acquire(claim, times, openBy);
			settled = answer instanceof Acquisition.Acquired;
			remember(request.job(), !settled);
			return answer;
		}
		finally {
			if (!settled && !claim.isAbandoned()) {
				drop(claim);
			}
		}
	}

	private void remember(JobId job, boolean lost) {
		if (!lost) {
			this.lostLast.remove(job);
		}
		else if (this.lostLast.size() < MOST_REMEMBERED) {
			this.lostLast.add(job);
		}
	}

	/** Answers a claim that counts for the same job, or null. */
	private @Nullable Claim enter(Claim claim) {
		while (true) {
			Claim other = this.claims.putIfAbsent(claim.job(), claim);
			if (other == null || !other.isOver()) {
				return other;
			}
			this.claims.remove(claim.job(), other);
		}
	}

	private void drop(Claim claim) {
		claim.drop();
		this.claims.remove(claim.job(), claim);
	}

	/**
	 * What another claim of this instance means for a request.
	 * @return the answer, or null if the claim counts no more
	 */
	private @Nullable Acquisition inTheWay(Claim other, LeaseRequest request, long deadline) {
		LeaseGrant grant = other.grant();
		boolean same = other.request().owner().equals(request.owner());
		if (same && grant != null && !other.isAbandoned()) {
			return (renew(List.of(grant)).get(0) == Renewal.EXTENDED) ? new Acquisition.Acquired(grant)
					: goneOrUnknown(other);
		}
		if (!same && !other.isAbandoned()) {
			return new Acquisition.Held(other.request().holder());
		}
		other.awaitEnd(Duration.ofNanos(LeaseSession.nanosUntil(deadline)));
		return goneOrUnknown(other);
	}

	private static @Nullable Acquisition goneOrUnknown(Claim other) {
		if (!other.isOver()) {
			throw new LeaseStoreException(other.purpose()
					+ " failed: what has become of an earlier request of this instance is not known yet", null);
		}
		return null;
	}

	private Acquisition acquire(Claim claim, Times times, long openBy) throws EndedException {
		LeaseSession holder = this.sessions.holder(times);
		holder.awaitOpen(claim.purpose(), openBy);
		if (Thread.currentThread().isInterrupted()) {
			throw new LeaseStoreException(claim.purpose() + " failed: the thread is interrupted", null);
		}
		claim.askOn(holder);
		long deadline = LeaseSession.deadlineIn(times.callTimeout());
		try {
			Taking taking = lock(holder, claim, deadline);
			return (taking instanceof Taking.Locked locked) ? mint(holder, claim, locked, openBy, deadline)
					: answer(claim, taking);
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(claim.purpose(), ex);
		}
	}

	private Taking lock(LeaseSession holder, Claim claim, long deadline) throws EndedException, SQLException {
		SessionCall<Claim, Taking> call = new SessionCall<>(LeaseCalls.LOCK, claim, claim.purpose(),
				(late) -> giveUp(holder, claim));
		try {
			return ask(holder, call, deadline);
		}
		catch (LeaseStoreException | Error ex) {
			call.abandon();
			if (call.isAbandoned() && !holder.withdraw(call)) {
				claim.abandon();
			}
			throw ex;
		}
	}

	private Acquisition mint(LeaseSession holder, Claim claim, Taking.Locked locked, long openBy, long deadline)
			throws EndedException, SQLException {
		boolean done = false;
		try {
			Taking taking = mintElsewhere(holder.times(), claim, locked, openBy, deadline);
			if (taking instanceof Taking.Overtaken) {
				Taking now = ask(holder, new SessionCall<>(LeaseCalls.LOOK, claim, claim.purpose()), deadline);
				taking = (now instanceof Taking.Locked again)
						? mintElsewhere(holder.times(), claim, again, openBy, deadline) : now;
			}
			Acquisition answer = answer(claim, taking);
			if (answer instanceof Acquisition.Acquired && holder.isEnded()) {
				throw new EndedException("the lease session has ended", null);
			}
			done = answer instanceof Acquisition.Acquired;
			return answer;
		}
		finally {
			if (!done) {
				giveUp(holder, claim);
				// If there is time, the lock is free when the caller hears of it
				claim.awaitEnd(Duration.ofNanos(LeaseSession.nanosUntil(deadline)));
			}
		}
	}

	private Taking mintElsewhere(Times times, Claim claim, Taking.Locked locked, long openBy, long deadline)
			throws EndedException, SQLException {
		Taking.Asked asked = new Taking.Asked(claim, locked.seen());
		LeaseSession writer = this.sessions.writer(times);
		boolean isOpen = writer.isOpen();
		writer.awaitOpen(claim.purpose(), Math.max(openBy, deadline));
		long by = isOpen ? deadline : LeaseSession.deadlineIn(times.callTimeout());
		try {
			return ask(writer, new SessionCall<>(LeaseCalls.MINT, asked, claim.purpose()), by);
		}
		catch (EndedException ex) {
			// What it has written, if it has, is seen by the comparison
			LeaseSession other = this.sessions.writer(times);
			other.awaitOpen(claim.purpose(), Math.max(openBy, by));
			return ask(other, new SessionCall<>(LeaseCalls.MINT, asked, claim.purpose()), by);
		}
	}

	private static Acquisition answer(Claim claim, Taking taking) throws SQLException {
		if (taking instanceof Taking.Refused refused) {
			return refused.answer();
		}
		if (taking instanceof Taking.Minted minted) {
			LeaseGrant grant = claim.grant();
			return new Acquisition.Acquired((grant != null) ? grant : claim.granted(minted));
		}
		throw LeaseCalls.noRow();
	}

	/** Nobody waits for the grant any more: its session gives back what it has of it. */
	private static void giveUp(LeaseSession holder, Claim claim) {
		try {
			claim.abandon();
			holder.submit(new SessionCall<>(LeaseCalls.RELEASE, new Ended(claim, null, false), claim.purpose()),
					LeaseSession.deadlineIn(holder.times().callTimeout()));
		}
		catch (RuntimeException | Error ex) {
			// Otherwise it would keep a lock that no claim stands for
			holder.end();
			throw ex;
		}
	}

	/**
	 * Asks a session and waits for the answer. If its reply did not come, waits a moment
	 * more for what the server says about that.
	 */
	private static <Q, A> A ask(LeaseSession session, SessionCall<Q, A> call, long deadline)
			throws EndedException, SQLException {
		session.submit(call, deadline);
		try {
			return call.await(deadline);
		}
		catch (EndedException ex) {
			if (SqlFailure.isSilence(ex)) {
				throw call.unanswered(session.findings(session.times().callTimeout().dividedBy(4)), ex);
			}
			throw ex;
		}
		catch (LeaseStoreException ex) {
			if (call.isAbandoned() && session.isWriter()) {
				throw call.unanswered(session.findings(session.times().callTimeout().dividedBy(4)), ex);
			}
			throw ex;
		}
	}

	@Override
	public List<Renewal> renew(List<LeaseGrant> grants) {
		Map<LeaseSession, List<Claim>> bySession = new HashMap<>();
		for (LeaseGrant grant : grants) {
			Claim claim = claimOf(grant);
			LeaseSession session = (claim != null) ? claim.session() : null;
			if (claim != null && session != null) {
				bySession.computeIfAbsent(session, (key) -> new ArrayList<>()).add(claim);
			}
		}
		Map<Claim, Renewal> answers = new HashMap<>();
		bySession.forEach((session, claimed) -> answers.putAll(renew(session, claimed)));
		List<Renewal> renewals = new ArrayList<>();
		for (LeaseGrant grant : grants) {
			Claim claim = claimOf(grant);
			renewals.add((claim != null) ? answers.getOrDefault(claim, Renewal.GONE) : Renewal.GONE);
		}
		return renewals;
	}

	private static Map<Claim, Renewal> renew(LeaseSession session, List<Claim> claimed) {
		String purpose = "Renewing " + claimed.size() + " lease(s) in Postgres";
		long deadline = LeaseSession.deadlineIn(session.times().callTimeout());
		SessionCall<List<Claim>, Map<Claim, Renewal>> call = new SessionCall<>(LeaseCalls.RENEW, claimed, purpose);
		session.submit(call, deadline);
		try {
			return call.await(deadline);
		}
		catch (EndedException ex) {
			return Map.of();
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(purpose, ex);
		}
	}

	/** The claim that holds exactly this grant, or null. */
	private @Nullable Claim claimOf(LeaseGrant grant) {
		Claim claim = this.claims.get(grant.job());
		if (claim != null && claim.isOver()) {
			this.claims.remove(grant.job(), claim);
			return null;
		}
		return (claim != null && claim.isGrantOf(grant)) ? claim : null;
	}

	@Override
	public boolean complete(LeaseGrant grant, Instant completed) {
		Claim claim = claimOf(grant);
		LeaseSession session = (claim != null) ? claim.session() : null;
		if (claim == null || session == null) {
			return false;
		}
		String purpose = grant.job().name() + ": recording that its fire time has run";
		try {
			return ask(this.sessions.writer(session.times()),
					new SessionCall<>(LeaseCalls.COMPLETE, new Ended(claim, completed, false), purpose),
					LeaseSession.deadlineIn(session.times().callTimeout()));
		}
		catch (EndedException ex) {
			throw new LeaseStoreException(purpose + " failed: " + ex.getMessage(), ex);
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(purpose, ex);
		}
	}

	@Override
	public boolean release(LeaseGrant grant, @Nullable Instant completed) {
		Claim claim = claimOf(grant);
		LeaseSession session = (claim != null) ? claim.session() : null;
		if (claim == null || session == null) {
			return false;
		}
		CompletableFuture<Boolean> released = new CompletableFuture<>();
		CompletableFuture<Boolean> earlier = claim.releasing(released);
		if (earlier == null) {
			earlier = giveBack(session, claim, completed).whenComplete((ours, failure) -> {
				this.claims.remove(claim.job(), claim);
				if (failure != null) {
					released.completeExceptionally(failure);
				}
				else {
					released.complete(ours);
				}
			});
		}
		return awaitRelease(earlier, claim, LeaseSession.deadlineIn(session.times().callTimeout()));
	}

	/** Goes on without its caller. */
	private CompletableFuture<Boolean> giveBack(LeaseSession holder, Claim claim, @Nullable Instant completed) {
		if (completed == null || claim.grant() == null) {
			return submit(holder, LeaseCalls.RELEASE, new Ended(claim, null, false))
				.thenApply((given) -> given == LeaseCalls.Given.BACK);
		}
		Ended ended = new Ended(claim, completed, false);
		return submit(holder, LeaseCalls.RECORD_AND_RELEASE, ended)
			.thenCompose((given) -> (given != LeaseCalls.Given.NOT_ALONE)
					? CompletableFuture.completedFuture(given == LeaseCalls.Given.BACK)
					: recordElsewhere(holder, ended));
	}

	private CompletableFuture<Boolean> recordElsewhere(LeaseSession holder, Ended ended) {
		CompletableFuture<LeaseCalls.Given> recording;
		try {
			recording = submit(this.sessions.writer(holder.times()), LeaseCalls.RECORD, ended);
		}
		catch (LeaseStoreException ex) {
			recording = CompletableFuture.failedFuture(ex);
		}
		return recording.handle((recorded, failure) -> new Recording(recorded, failure))
			.thenCompose((made) -> unlock(holder, ended, made));
	}

	private static CompletableFuture<Boolean> unlock(LeaseSession holder, Ended ended, Recording made) {
		boolean marked = made.given() == LeaseCalls.Given.BACK;
		return submit(holder, LeaseCalls.RELEASE, new Ended(ended.claim(), null, marked)).thenApply((given) -> {
			if (made.failure() != null) {
				throw new LeaseStoreException(
						"it is not known whether fire time " + ended.completed()
								+ " was recorded as completed, so it may be run again; the lease is given back",
						made.failure());
			}
			return marked && given == LeaseCalls.Given.BACK;
		});
	}

	private static CompletableFuture<LeaseCalls.Given> submit(LeaseSession session,
			SessionCall.Kind<Ended, LeaseCalls.Given> kind, Ended ended) {
		SessionCall<Ended, LeaseCalls.Given> call = new SessionCall<>(kind, ended, purposeOfRelease(ended.claim()));
		session.submit(call, LeaseSession.deadlineIn(session.times().callTimeout()));
		return call.outcome();
	}

	private static String purposeOfRelease(Claim claim) {
		return claim.job().name() + ": giving its lease back";
	}

	private static boolean awaitRelease(CompletableFuture<Boolean> released, Claim claim, long deadline) {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return released.get(LeaseSession.nanosUntil(deadline), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		catch (ExecutionException ex) {
			Throwable cause = (ex.getCause() != null) ? ex.getCause() : ex;
			if (cause instanceof EndedException && !SqlFailure.isSilence(cause)) {
				return false;
			}
			throw new LeaseStoreException(purposeOfRelease(claim) + " failed: " + cause.getMessage(), cause);
		}
		catch (TimeoutException ex) {
			throw new LeaseStoreException(purposeOfRelease(claim) + " failed: no answer from Postgres in time", ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public LeaseRecord inspect(JobId job, Duration timeout) {
		return inspect(List.of(job), timeout).getOrDefault(job, LeaseCalls.UNKNOWN);
	}

	@Override
	public Map<JobId, LeaseRecord> inspect(Collection<JobId> jobs, Duration timeout) {
		Times times = new Times(timeout.multipliedBy(PATIENCE_OF_LOOKS), timeout);
		String purpose = ((jobs.size() == 1) ? jobs.iterator().next().name() + ": looking at its lease"
				: "Looking at " + jobs.size() + " leases") + " in Postgres";
		return withSession(purpose, times, () -> this.sessions.any(times), (session, deadline) -> {
			Map<JobId, LeaseRecord> records = new LinkedHashMap<>();
			ask(session, new SessionCall<>(LeaseCalls.INSPECT, List.copyOf(jobs), purpose), deadline)
				.forEach(records::put);
			return records;
		});
	}

	@Override
	public boolean revoke(JobId job, long token, Duration timeout) {
		Times times = new Times(timeout.multipliedBy(PATIENCE_OF_LOOKS), timeout);
		String purpose = job.name() + ": taking its lease away in Postgres";
		return withSession(purpose, times, () -> this.sessions.writer(times), (session, deadline) -> ask(session,
				new SessionCall<>(LeaseCalls.REVOKE, new LeaseCalls.Revocation(job, token), purpose), deadline));
	}

	/** Again on another session, if the end of the first was noticed only now. */
	private static <T> T withSession(String purpose, Times times, Supplier<LeaseSession> sessions, Look<T> look) {
		long openBy = LeaseSession.deadlineIn(times.openingTimeout());
		try {
			for (int tries = 0;; tries++) {
				try {
					LeaseSession session = sessions.get();
					session.awaitOpen(purpose, openBy);
					return look.at(session, LeaseSession.deadlineIn(times.callTimeout()));
				}
				catch (EndedException ex) {
					if (tries > 0) {
						throw new LeaseStoreException(purpose + " failed: " + ex.getMessage(), ex);
					}
				}
			}
		}
		catch (SQLException ex) {
			throw SqlFailure.unknown(purpose, ex);
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
		return this.standBys.add(job, freed);
	}

	/** Ends all sessions, and with them, on the server, all leases. */
	@Override
	public void close() {
		this.standBys.close();
		this.sessions.close();
	}

	/**
	 * What has become of a fire time that was to be recorded.
	 *
	 * @param given the answer, or null
	 * @param failure why there is none, or null
	 */
	private record Recording(LeaseCalls.@Nullable Given given, @Nullable Throwable failure) {
	}

	/**
	 * What is asked of a session that is open.
	 *
	 * @param <T> the type of the answer
	 */
	private interface Look<T> {

		T at(LeaseSession session, long deadline) throws EndedException, SQLException;

	}

}
