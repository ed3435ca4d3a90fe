package io.github.singletonjob.postgres;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStoreException;
import org.jspecify.annotations.Nullable;

/**
 * A job that this instance asks for or holds. Exists from before the request is sent
 * until the lease is over, so that the instance never asks twice: the advisory locks of
 * one session stack.
 * <p>
 * A claim counts only as long as its session lives, whatever has become of the threads
 * that should have dropped it.
 */
final class Claim {

	private final LeaseRequest request;

	private final long lockKey;

	private final CountDownLatch dropped = new CountDownLatch(1);

	private final AtomicReference<@Nullable CompletableFuture<Boolean>> release = new AtomicReference<>();

	private volatile boolean over;

	private volatile boolean abandoned;

	private volatile @Nullable LeaseSession session;

	private volatile @Nullable LeaseGrant grant;

	private final boolean likelyToLose;

	Claim(LeaseRequest request) {
		this(request, false);
	}

	/**
	 * Creates a claim.
	 * @param request the request
	 * @param likelyToLose whether the last attempt for the job was in vain
	 */
	Claim(LeaseRequest request, boolean likelyToLose) {
		this.request = request;
		this.likelyToLose = likelyToLose;
		this.lockKey = LockKey.of(request.job());
	}

	LeaseRequest request() {
		return this.request;
	}

	JobId job() {
		return this.request.job();
	}

	long lockKey() {
		return this.lockKey;
	}

	/** Then it is not worth the statement that does all at once. */
	boolean isLikelyToLose() {
		return this.likelyToLose;
	}

	/** What the calls for this claim are for, as the beginning of an error message. */
	String purpose() {
		return job().name() + ": asking for its lease in Postgres";
	}

	/** The session whose advisory lock is the lease, from before it is asked for. */
	@Nullable LeaseSession session() {
		return this.session;
	}

	void askOn(LeaseSession asked) {
		this.session = asked;
	}

	/** The lease; null until granted. */
	@Nullable LeaseGrant grant() {
		return this.grant;
	}

	LeaseGrant granted(Taking.Minted minted) {
		LeaseGrant granted = new LeaseGrant(this.request, minted.token(), minted.fireTime(),
				minted.followsUnreleased());
		this.grant = granted;
		return granted;
	}

	boolean isGrantOf(LeaseGrant other) {
		LeaseGrant granted = this.grant;
		return granted != null && granted.token() == other.token() && granted.owner().equals(other.owner());
	}

	/**
	 * The caller has stopped waiting for the answer. The claim stays until the session
	 * has given up what may have been granted.
	 */
	void abandon() {
		this.abandoned = true;
	}

	boolean isAbandoned() {
		return this.abandoned;
	}

	/** It counts no more. Never fails. */
	void drop() {
		this.over = true;
		this.dropped.countDown();
	}

	boolean isOver() {
		LeaseSession holding = this.session;
		return this.over || (holding != null && holding.isEnded());
	}

	/**
	 * Waits until it counts no more.
	 * @param patience how long
	 * @throws LeaseStoreException if the thread is interrupted
	 */
	void awaitEnd(Duration patience) {
		try {
			this.dropped.await(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LeaseStoreException(purpose() + " failed: the thread was interrupted", ex);
		}
	}

	/**
	 * Enters that the lease is being given back, unless it is already.
	 * @return the earlier one, or null
	 */
	@Nullable CompletableFuture<Boolean> releasing(CompletableFuture<Boolean> released) {
		return this.release.compareAndExchange(null, released);
	}

}
