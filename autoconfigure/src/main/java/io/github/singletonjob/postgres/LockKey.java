package io.github.singletonjob.postgres;

import java.nio.ByteBuffer;

import io.github.singletonjob.lease.JobId;

/**
 * The number by which Postgres knows the advisory lock of a job.
 */
final class LockKey {

	private LockKey() {
	}

	/** 64 bits of the job's digest: two jobs do not meet by accident. */
	static long of(JobId job) {
		return ByteBuffer.wrap(job.digest()).getLong();
	}

}
