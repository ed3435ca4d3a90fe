package io.github.singletonjob.postgres;

import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * A job that this instance asks for or holds. Exists from before the request is sent
 * until the lease is over, so that the instance never asks twice: the advisory locks of
 * one session stack.
 */
final class Claim {

	private final LeaseRequest request;

	private final long lockKey;

	private volatile @Nullable LeaseSession session;

	private volatile @Nullable LeaseGrant grant;

	private final AtomicReference<@Nullable SessionCall<Boolean>> release = new AtomicReference<>();

	private volatile @Nullable SessionCall<Acquisition> acquire;

	Claim(LeaseRequest request) {
		this.request = request;
		this.lockKey = LockKey.of(request.job());
	}

	JobId job() {
		return this.request.job();
	}

	String owner() {
		return this.request.owner();
	}

	String holder() {
		return this.request.holder();
	}

	LeaseRequest request() {
		return this.request;
	}

	long lockKey() {
		return this.lockKey;
	}

	/** What the calls for this claim are for, as the beginning of an error message. */
	String purpose() {
		return job().name() + ": asking for its lease in Postgres";
	}

	void asking(SessionCall<Acquisition> call) {
		this.acquire = call;
	}

	/**
	 * Whether the caller has stopped waiting for the answer. The claim stays entered
	 * until the session has given up what may have been granted.
	 */
	boolean isAbandoned() {
		SessionCall<Acquisition> call = this.acquire;
		return call != null && call.isAbandoned();
	}

	LeaseGrant granted(LeaseSession session, AcquireAnswer.Minted minted) {
		LeaseGrant granted = new LeaseGrant(this.request, minted.token(), minted.fireTime(),
				minted.followsUnreleased());
		this.session = session;
		this.grant = granted;
		return granted;
	}

	/** The session whose advisory lock is the lease; null until granted. */
	@Nullable LeaseSession session() {
		return this.session;
	}

	/** The lease; null until granted. */
	@Nullable LeaseGrant grant() {
		return this.grant;
	}

	boolean isGrantOf(LeaseGrant other) {
		LeaseGrant granted = this.grant;
		return granted != null && granted.token() == other.token() && granted.owner().equals(other.owner());
	}

	/**
	 * Enters the call that gives the lease back, unless one is on its way.
	 * @return the earlier call, or null
	 */
	@Nullable SessionCall<Boolean> releasing(SessionCall<Boolean> call) {
		return this.release.compareAndExchange(null, call);
	}

}
