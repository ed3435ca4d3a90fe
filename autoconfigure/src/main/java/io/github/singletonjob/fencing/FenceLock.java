package io.github.singletonjob.fencing;

import java.nio.ByteBuffer;

import io.github.singletonjob.lease.JobId;

/**
 * The advisory lock of a job's fence in Postgres: a raise holds it exclusively until its
 * commit is done, a commit that has been checked in share mode. It belongs to a
 * transaction, so that no session can keep it longer.
 */
final class FenceLock {

	private FenceLock() {
	}

	/**
	 * 64 bits of the job's digest, wide enough that two jobs do not meet by accident.
	 * They are not the first ones: the Postgres store locks those for as long as a job is
	 * held, maybe in this database.
	 * @param job the job
	 */
	static long key(JobId job) {
		return ByteBuffer.wrap(job.digest()).getLong(Long.BYTES);
	}

}
