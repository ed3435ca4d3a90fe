package io.github.singletonjob.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.GrantedFireTime;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * What can be executed for one job.
 *
 * @param keys its keys
 */
record JobScripts(JobKeys keys) {

	static JobScripts of(String prefix, JobId job) {
		return new JobScripts(JobKeys.of(prefix, job));
	}

	ScriptCommand acquire(LeaseRequest request) {
		List<String> arguments = new ArrayList<>(List.of(request.owner(), request.holder(),
				Long.toString(request.ttl().toMillis()), Long.toString(Math.max(0, request.floor()))));
		Firing firing = request.firing();
		if (firing != null) {
			Instant due = firing.fireTime();
			arguments.add(firing.schedule());
			arguments.add((due != null) ? millis(due) : "");
			arguments.add(firing.finishesOpen() ? "1" : "0");
		}
		return ScriptCommand.of(Script.ACQUIRE, List.of(this.keys.lease(), this.keys.token(), this.keys.record()),
				arguments);
	}

	ScriptCommand renew(LeaseGrant grant) {
		return ScriptCommand.of(Script.RENEW, List.of(this.keys.lease()),
				List.of(mark(grant), Long.toString(grant.request().ttl().toMillis())));
	}

	ScriptCommand complete(LeaseGrant grant, GrantedFireTime fireTime, Instant completed) {
		return ScriptCommand.of(Script.COMPLETE, List.of(this.keys.lease(), this.keys.record()),
				List.of(mark(grant), fireTime.schedule(), millis(completed)));
	}

	/**
	 * Gives a lease back.
	 * @param mark how the lease begins
	 * @param fireTime what the run stands for, or null
	 * @param completed what it has completed, or null
	 */
	ScriptCommand release(String mark, @Nullable GrantedFireTime fireTime, @Nullable Instant completed) {
		List<String> arguments = new ArrayList<>(List.of(mark, this.keys.channel()));
		if (fireTime != null && completed != null) {
			arguments.add(fireTime.schedule());
			arguments.add(millis(completed));
		}
		return ScriptCommand.of(Script.RELEASE, List.of(this.keys.lease(), this.keys.record()), arguments);
	}

	ScriptCommand revoke(long token) {
		return ScriptCommand.of(Script.REVOKE, List.of(this.keys.lease()),
				List.of(Long.toString(token), this.keys.channel()));
	}

	ScriptCommand inspect() {
		return ScriptCommand.of(Script.INSPECT, List.of(this.keys.lease(), this.keys.token(), this.keys.record()),
				List.of());
	}

	/** How the value of the lease's key begins while it is ours. */
	static String mark(LeaseGrant grant) {
		return grant.owner() + ' ' + grant.token() + ' ';
	}

	private static String millis(Instant instant) {
		return Long.toString(instant.toEpochMilli());
	}

}
