package io.github.singletonjob.postgres;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this instance, at most one for each job, over all of its sessions.
 */
final class Claims {

	private final ConcurrentMap<JobId, Claim> claims = new ConcurrentHashMap<>();

	/**
	 * Enters a claim, unless there is one for its job.
	 * @return the one that is in the way, or null
	 */
	@Nullable Claim enter(Claim claim) {
		return this.claims.putIfAbsent(claim.job(), claim);
	}

	/** The claim that holds exactly this grant, or null. */
	@Nullable Claim of(LeaseGrant grant) {
		Claim claim = this.claims.get(grant.job());
		return (claim != null && claim.isGrantOf(grant)) ? claim : null;
	}

	boolean contains(Claim claim) {
		return this.claims.get(claim.job()) == claim;
	}

	void drop(Claim claim) {
		this.claims.remove(claim.job(), claim);
	}

	boolean anyHeldOn(LeaseSession session) {
		return this.claims.values().stream().anyMatch((claim) -> claim.session() == session);
	}

	/** The leases of a session that is over. */
	List<Claim> dropHeldOn(LeaseSession session) {
		List<Claim> held = this.claims.values().stream().filter((claim) -> claim.session() == session).toList();
		held.forEach(this::drop);
		return held;
	}

}
