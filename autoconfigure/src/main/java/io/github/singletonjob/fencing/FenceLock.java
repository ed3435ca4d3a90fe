package io.github.singletonjob.fencing;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.singletonjob.lease.JobId;

/**
 * The advisory lock of a job's fence in Postgres: a raise holds it exclusively until its
 * commit is done, a commit that has been checked in share mode. It belongs to a
 * transaction, so that no session can keep it longer.
 */
final class FenceLock {

	// Another key than that of the lease: the Postgres store keeps a lock on that one for
	// as long as a job is held, maybe in this database
	private static final byte[] SALT = "singleton_job fence\n".getBytes(StandardCharsets.UTF_8);

	private static final Map<JobId, Long> KEYS = new ConcurrentHashMap<>();

	private FenceLock() {
	}

	/**
	 * 64 bits of a SHA-256, wide enough that two jobs do not meet by accident.
	 * @param job the job
	 */
	static long key(JobId job) {
		return KEYS.computeIfAbsent(job, FenceLock::digest);
	}

	// Each part is preceded by its length, so that moving characters from the one to the
	// other changes the key
	private static long digest(JobId job) {
		MessageDigest digest = sha256();
		digest.update(SALT);
		for (String part : new String[] { job.namespace(), job.name() }) {
			byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
			digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
			digest.update(bytes);
		}
		return ByteBuffer.wrap(digest.digest()).getLong();
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256, this one has not", ex);
		}
	}

}
