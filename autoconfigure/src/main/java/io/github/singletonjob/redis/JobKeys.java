package io.github.singletonjob.redis;

import java.util.HexFormat;

import io.github.singletonjob.lease.JobId;

/**
 * The keys of one job. A Redis Cluster executes a script on keys of one slot only, and
 * takes the slot from what stands between the first braces: here a hash of the job, so
 * that no character of its name can disturb that. The name behind it is for people.
 *
 * @param lease the key of the lease, which expires
 * @param token the key of the last token, which stays
 * @param record the key of the fire times and of the token that was given back last,
 * which stays
 * @param channel where it is said that the lease was given back
 */
record JobKeys(String lease, String token, String record, String channel) {

	private static final int HASH_BYTES = 16;

	static JobKeys of(String prefix, JobId job) {
		String hash = HexFormat.of().formatHex(job.digest(), 0, HASH_BYTES);
		String tagged = prefix + '{' + hash + '}';
		return new JobKeys(tagged + ":lease:" + job, tagged + ":token:" + job, tagged + ":record:" + job,
				tagged + ":free:" + job);
	}

	/** A brace in the prefix would decide about the slot, in the place of the job. */
	static void requireValid(String prefix) {
		if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("The key prefix '" + prefix
					+ "' contains a brace, which would put all jobs into one slot of a Redis Cluster, or the keys of"
					+ " one job into two. Leave braces out");
		}
	}

}
