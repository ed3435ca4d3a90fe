package io.github.singletonjob.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.redis.ScriptCall.Script;
import org.jspecify.annotations.Nullable;

/**
 * One job in Redis: its keys, and the scripts that are executed on them. A Redis Cluster
 * executes a script on keys of one slot only, and takes the slot from what stands between
 * the first braces: here a hash of the job, so that no character of its name can disturb
 * that. The name behind it is for people.
 *
 * @param lease the key of the lease, which expires
 * @param token the key of the last token, which stays
 * @param record the key of the fire times and of the token that was given back last,
 * which stays
 * @param channel where it is said that the lease was given back
 */
record RedisJob(String lease, String token, String record, String channel) {

	private static final int HASH_BYTES = 16;

	static RedisJob of(String prefix, JobId job) {
		String hash = HexFormat.of().formatHex(job.digest(), 0, HASH_BYTES);
		String tagged = prefix + '{' + hash + '}';
		return new RedisJob(tagged + ":lease:" + job, tagged + ":token:" + job, tagged + ":record:" + job,
				tagged + ":free:" + job);
	}

	/** A brace in the prefix would decide about the slot, in the place of the job. */
	static void requireValidPrefix(String prefix) {
		if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("The key prefix '" + prefix
					+ "' contains a brace, which would put all jobs into one slot of a Redis Cluster, or the keys of"
					+ " one job into two. Leave braces out");
		}
	}

	ScriptCall acquire(LeaseRequest request) {
		List<String> arguments = new ArrayList<>(List.of(request.owner(), request.holder(),
				Long.toString(request.ttl().toMillis()), Long.toString(Math.max(0, request.floor()))));
		Firing firing = request.firing();
		if (firing != null) {
			Instant due = firing.fireTime();
			arguments.add(firing.schedule());
			arguments.add((due != null) ? millis(due) : "");
			arguments.add(firing.finishesOpen() ? "1" : "0");
		}
		return new ScriptCall(Script.ACQUIRE, List.of(this.lease, this.token, this.record), arguments);
	}

	ScriptCall renew(LeaseGrant grant) {
		return new ScriptCall(Script.RENEW, List.of(this.lease),
				List.of(mark(grant), Long.toString(grant.request().ttl().toMillis())));
	}

	ScriptCall complete(LeaseGrant grant, GrantedFireTime fireTime, Instant completed) {
		return new ScriptCall(Script.COMPLETE, List.of(this.lease, this.record),
				List.of(mark(grant), fireTime.schedule(), millis(completed)));
	}

	ScriptCall release(LeaseGrant grant, @Nullable Instant completed) {
		List<String> arguments = new ArrayList<>(List.of(mark(grant), this.channel));
		GrantedFireTime fireTime = grant.fireTime();
		if (fireTime != null && completed != null) {
			arguments.add(fireTime.schedule());
			arguments.add(millis(completed));
		}
		return new ScriptCall(Script.RELEASE, List.of(this.lease, this.record), arguments);
	}

	/** Gives back what was granted to a request, with whichever token. */
	ScriptCall release(LeaseRequest request) {
		return new ScriptCall(Script.RELEASE, List.of(this.lease, this.record),
				List.of(request.owner() + ' ', this.channel));
	}

	ScriptCall revoke(long granted) {
		return new ScriptCall(Script.REVOKE, List.of(this.lease), List.of(Long.toString(granted), this.channel));
	}

	ScriptCall inspect() {
		return new ScriptCall(Script.INSPECT, List.of(this.lease, this.token, this.record), List.of());
	}

	ScriptCall probe() {
		return new ScriptCall(Script.PROBE, List.of(this.lease, this.record), List.of(this.channel));
	}

	/** How the value of the lease's key begins while the grant has it. */
	private static String mark(LeaseGrant grant) {
		return grant.owner() + ' ' + grant.token() + ' ';
	}

	private static String millis(Instant instant) {
		return Long.toString(instant.toEpochMilli());
	}

}
