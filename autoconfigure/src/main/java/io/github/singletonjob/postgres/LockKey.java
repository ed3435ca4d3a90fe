package io.github.singletonjob.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import io.github.singletonjob.lease.JobId;

/**
 * The number by which Postgres knows the advisory lock of a job.
 */
final class LockKey {

	private LockKey() {
	}

	/**
	 * 64 bits of a SHA-256, wide enough that two jobs do not meet by accident. Each part
	 * is preceded by its length, so that moving characters from the one to the other
	 * changes the key.
	 */
	static long of(JobId job) {
		MessageDigest digest = sha256();
		update(digest, job.namespace());
		update(digest, job.name());
		return ByteBuffer.wrap(digest.digest()).getLong();
	}

	private static void update(MessageDigest digest, String part) {
		byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
		digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
		digest.update(bytes);
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
