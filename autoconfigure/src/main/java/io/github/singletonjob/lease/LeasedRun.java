package io.github.singletonjob.lease;

import java.time.Duration;
import java.util.Optional;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;

/**
 * What a fence needs to know of a run. Every {@link JobRun} that the library binds to a
 * thread is one.
 */
public interface LeasedRun extends JobRun {

	/**
	 * The grant under which the run works.
	 * @return the grant
	 */
	LeaseGrant grant();

	/**
	 * The time to live of the run's lease.
	 * @return the time to live
	 */
	Duration ttl();

	/**
	 * Whether a statement outside of a transaction may be executed unfenced.
	 * @return false unless the job was configured so
	 */
	boolean allowsAutocommit();

	/**
	 * The run on whose thread this one was started, if any.
	 * @return the run around this one
	 */
	Optional<LeasedRun> enclosing();

	/**
	 * Does nothing while work of this run may still be committed, as far as this instance
	 * knows: from the grant until the run is lost or its body has ended. Unlike
	 * {@link #isHeld()}, it does not matter here that the run was cancelled, since nobody
	 * else can have the job then; nor that a lease is merely not confirmed, because the
	 * database decides.
	 * @throws LeaseLostException if nothing can be committed any more; it says why
	 */
	void ensureOpen();

	/**
	 * Whether the body of this run has ended, however it did. A run that is lost or
	 * cancelled while its body goes on has not ended.
	 * @return whether nothing of this run is at work any more
	 */
	boolean hasEnded();

	/**
	 * Tells the run that the database refused its token. The run is lost.
	 * @param refusal what the database said
	 */
	void refused(StaleTokenException refusal);

}
