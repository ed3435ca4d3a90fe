package io.github.singletonjob.postgres;

import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.postgres.LeaseStatements.Ended;
import io.github.singletonjob.postgres.LeaseStatements.Released;
import io.github.singletonjob.postgres.LeaseStatements.Row;
import io.github.singletonjob.postgres.SessionCall.Kind;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What can be asked of a session. The first group is asked of the one that has the locks,
 * the second of those that write rows: only these wait for a commit, except when there is
 * no other lease that could suffer.
 */
final class LeaseCalls {

	static final Kind<List<Claim>, Map<Claim, Renewal>> RENEW = new Kind<>(0, false, false, false,
			LeaseCalls::renewAll);

	/** Frees the lock; nothing to be recorded. */
	static final Kind<Ended, Given> RELEASE = new Kind<>(1, true, true, false, LeaseCalls::release);

	/** The same with a fire time, if there is no other lease. */
	static final Kind<Ended, Given> RECORD_AND_RELEASE = new Kind<>(1, false, true, false,
			LeaseCalls::recordAndRelease);

	/** Takes the lock, and mints if there is no other lease. */
	static final Kind<Claim, Taking> LOCK = new Kind<>(2, true, false, false, LeaseCalls::lock);

	/** Looks again under the lock. */
	static final Kind<Claim, Taking> LOOK = new Kind<>(2, false, false, false,
			(session, claims) -> session.statements().take(asked(claims), Taking.Step.LOOK));

	static final Kind<List<JobId>, Map<JobId, LeaseRecord>> INSPECT = new Kind<>(3, true, false, false,
			LeaseCalls::inspect);

	/** Mints under a lock that another session has. */
	static final Kind<Taking.Asked, Taking> MINT = new Kind<>(0, true, false, true,
			(session, asked) -> session.statements().take(asked, Taking.Step.MINT));

	/** Records and marks under a lock that another session has. */
	static final Kind<Ended, Given> RECORD = new Kind<>(0, false, true, true, LeaseCalls::record);

	static final Kind<Ended, Boolean> COMPLETE = new Kind<>(0, false, false, true, LeaseCalls::complete);

	static final Kind<Revocation, Boolean> REVOKE = new Kind<>(1, true, false, true, LeaseCalls::revoke);

	static final LeaseRecord UNKNOWN = new LeaseRecord(false, null, 0, null, Map.of());

	private static final Log logger = LogFactory.getLog(LeaseCalls.class);

	private LeaseCalls() {
	}

	private static List<Taking.Asked> asked(List<Claim> claims) {
		return claims.stream().map((claim) -> new Taking.Asked(claim, null)).toList();
	}

	/**
	 * Whatever goes wrong, the locks do not stay behind: each is freed by its key, so
	 * that the other leases on the session are not touched.
	 */
	private static List<Taking> lock(LeaseSession session, List<Claim> claims) throws SQLException {
		boolean alone = claims.size() == 1 && session.holdsNothingBut(claims.get(0));
		boolean atOnce = alone && !claims.get(0).isLikelyToLose();
		try {
			List<Taking> answers = session.statements()
				.take(asked(claims), atOnce ? Taking.Step.LOCK_AND_MINT : Taking.Step.LOCK);
			List<Taking> settled = new ArrayList<>();
			for (int i = 0; i < answers.size(); i++) {
				settled.add(settle(session, claims.get(i), answers.get(i), alone));
			}
			return settled;
		}
		catch (SQLException ex) {
			if (!session.statements().isBroken(ex)) {
				for (Claim claim : claims) {
					session.statements().free(claim.lockKey());
					session.letGo(claim);
				}
			}
			throw ex;
		}
	}

	private static Taking settle(LeaseSession session, Claim claim, Taking taking, boolean alone) throws SQLException {
		if (taking instanceof Taking.Refused) {
			return taking;
		}
		session.hold(claim);
		Taking last = taking;
		// The holder before unlocks before its release is committed. What waits for that
		// at the rows can be overtaken by it, and then sees it
		for (int tries = 0; tries < 2
				&& (last instanceof Taking.Overtaken || (alone && last instanceof Taking.Locked)); tries++) {
			last = session.statements().take(asked(List.of(claim)), Taking.Step.MINT_UNDER_LOCK).get(0);
		}
		if (last instanceof Taking.Minted minted) {
			claim.granted(minted);
		}
		else if (last instanceof Taking.Refused) {
			session.statements().free(claim.lockKey());
			session.letGo(claim);
		}
		else if (last instanceof Taking.Overtaken) {
			throw noRow();
		}
		return last;
	}

	static SQLException noRow() {
		return new SQLException("The table " + LeaseSql.TABLE + " or " + LeaseSql.FIRE_TIME_TABLE
				+ " took no row: drop the trigger or rule on it");
	}

	private static List<Map<Claim, Renewal>> renewAll(LeaseSession session, List<List<Claim>> asked)
			throws SQLException {
		List<Map<Claim, Renewal>> answers = new ArrayList<>();
		for (List<Claim> claims : asked) {
			answers.add(renew(session, claims));
		}
		return answers;
	}

	/**
	 * Being heard by the server is the renewal; that the rows are looked at lets an
	 * operator take a job away by clearing its row.
	 */
	private static Map<Claim, Renewal> renew(LeaseSession session, List<Claim> claims) throws SQLException {
		Map<Long, Row> rows = session.statements().rows(claims);
		Map<Claim, Renewal> answers = new HashMap<>();
		for (Claim claim : claims) {
			boolean held = !claim.isOver() && isRowOf(claim, rows.get(claim.lockKey()));
			answers.put(claim, held ? Renewal.EXTENDED : Renewal.GONE);
			if (!held && !claim.isOver()) {
				logger.warn(claim.job().name() + ": somebody has cleared or changed its row in " + LeaseSql.TABLE
						+ "; the lease is given up");
				session.statements().free(claim.lockKey());
				session.letGo(claim);
			}
		}
		return answers;
	}

	private static boolean isRowOf(Claim claim, @Nullable Row row) {
		LeaseGrant grant = claim.grant();
		return grant != null && row != null && grant.token() == row.token() && grant.owner().equals(row.owner());
	}

	/** If rows cannot be marked as released, the locks are freed all the same. */
	private static List<Given> release(LeaseSession session, List<Ended> ended) throws SQLException {
		List<Ended> live = ended.stream().filter((one) -> !one.claim().isOver()).toList();
		Map<Ended, Released> answers = new HashMap<>();
		if (!live.isEmpty()) {
			try {
				List<Released> released = session.statements().release(live, true);
				for (int i = 0; i < live.size(); i++) {
					answers.put(live.get(i), released.get(i));
				}
			}
			catch (SQLException ex) {
				if (session.statements().isBroken(ex)) {
					throw ex;
				}
				for (Ended one : live) {
					boolean ours = recordAlone(session, one, ex);
					answers.put(one, new Released(ours, session.statements().free(one.claim().lockKey())));
				}
			}
		}
		List<Given> given = new ArrayList<>();
		for (Ended one : ended) {
			Released released = answers.get(one);
			given.add(Given.of(released != null && released.cleared() && released.unlocked()));
			if (released != null) {
				session.letGo(one.claim());
				if (!released.unlocked() && one.claim().grant() != null) {
					logger.warn(one.claim().job().name() + ": the session did not have the"
							+ " advisory lock of the lease any more when it was given back");
				}
			}
		}
		return given;
	}

	private static List<Given> record(LeaseSession session, List<Ended> ended) throws SQLException {
		try {
			return session.statements()
				.release(ended, false)
				.stream()
				.map((released) -> Given.of(released.cleared()))
				.toList();
		}
		catch (SQLException ex) {
			if (ended.size() > 1 || session.statements().isBroken(ex)) {
				throw ex;
			}
			return List.of(Given.of(recordAlone(session, ended.get(0), ex)));
		}
	}

	/** Its row could not be marked, but the fire time is in another table. */
	private static boolean recordAlone(LeaseSession session, Ended ended, SQLException refusal) throws SQLException {
		LeaseGrant grant = ended.claim().grant();
		if (grant == null) {
			return false;
		}
		logger.warn(grant.job().name() + ": the lease with token " + grant.token() + " is given back, but could"
				+ " not be marked as released: " + SqlFailure.explain(refusal));
		Instant completed = ended.completed();
		if (completed == null) {
			return true;
		}
		try {
			return session.statements().complete(grant, completed);
		}
		catch (SQLException ex) {
			if (session.statements().isBroken(ex)) {
				throw ex;
			}
			logger.warn(grant.job().name() + ": that its fire time " + completed + " has run could not be"
					+ " recorded, so it may be run again: " + SqlFailure.explain(ex));
			return true;
		}
	}

	private static List<Given> recordAndRelease(LeaseSession session, List<Ended> ended) throws SQLException {
		if (ended.size() > 1 || !session.holdsNothingBut(ended.get(0).claim())) {
			return ended.stream().map((one) -> Given.NOT_ALONE).toList();
		}
		return release(session, ended);
	}

	private static List<Boolean> complete(LeaseSession session, List<Ended> ended) throws SQLException {
		List<Boolean> answers = new ArrayList<>();
		for (Ended one : ended) {
			LeaseGrant grant = one.claim().grant();
			Instant completed = one.completed();
			answers.add(grant != null && completed != null && session.statements().complete(grant, completed));
		}
		return answers;
	}

	private static List<Map<JobId, LeaseRecord>> inspect(LeaseSession session, List<List<JobId>> asked)
			throws SQLException {
		List<JobId> jobs = asked.stream().flatMap(List::stream).distinct().toList();
		List<LeaseRecord> found = session.statements().inspect(jobs);
		Map<JobId, LeaseRecord> records = new HashMap<>();
		for (int i = 0; i < jobs.size(); i++) {
			records.put(jobs.get(i), found.get(i));
		}
		List<Map<JobId, LeaseRecord>> answers = new ArrayList<>();
		for (List<JobId> one : asked) {
			Map<JobId, LeaseRecord> answer = new LinkedHashMap<>();
			one.forEach((job) -> answer.put(job, records.getOrDefault(job, UNKNOWN)));
			answers.add(answer);
		}
		return answers;
	}

	private static List<Boolean> revoke(LeaseSession session, List<Revocation> revocations) throws SQLException {
		List<Boolean> answers = new ArrayList<>();
		for (Revocation one : revocations) {
			answers.add(session.statements().revoke(one.job(), one.token()));
		}
		return answers;
	}

	/**
	 * What has become of a lease that was to be given back.
	 */
	enum Given {

		/** It was ours until then. */
		BACK,

		/** It was not ours any more. */
		NOT_OURS,

		/** Nothing was done, because there are other leases on the session. */
		NOT_ALONE;

		static Given of(boolean ours) {
			return ours ? BACK : NOT_OURS;
		}

	}

	/**
	 * Takes a lease away from its holder.
	 *
	 * @param job the job
	 * @param token the token of the lease
	 */
	record Revocation(JobId job, long token) {
	}

}
