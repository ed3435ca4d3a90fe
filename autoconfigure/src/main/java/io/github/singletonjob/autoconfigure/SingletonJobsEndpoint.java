package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.singletonjob.Handover;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.Takeover;
import io.github.singletonjob.runtime.RunSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Shows the jobs to an operator, and lets one release a lease whose token was seen.
 */
@Endpoint(id = "singletonjobs")
class SingletonJobsEndpoint {

	private final JobOperations operations;

	private final JobSettings settings;

	private final String instance;

	SingletonJobsEndpoint(JobOperations operations, JobSettings settings, String instance) {
		this.operations = operations;
		this.settings = settings;
		this.instance = instance;
	}

	/**
	 * All jobs.
	 * @return what is known of each
	 */
	@ReadOperation
	public Jobs jobs() {
		return new Jobs(this.settings.namespace(), this.settings.storeName(), this.instance,
				this.operations.statuses().stream().map(this::describe).toList());
	}

	/**
	 * One job.
	 * @param job its name
	 * @return what is known of it, or null if there is no such job here
	 */
	@ReadOperation
	public @Nullable Job job(@Selector(match = Match.ALL_REMAINING) String... job) {
		String name = name(job);
		return this.operations.names().contains(name) ? describe(this.operations.status(name)) : null;
	}

	/**
	 * Takes the lease of a job away from its holder.
	 * @param token the token that the operator has seen
	 * @param job its name
	 * @return whether it was released; not found if there is no such job here
	 */
	@WriteOperation
	public WebEndpointResponse<Released> release(long token, @Selector(match = Match.ALL_REMAINING) String... job) {
		String name = name(job);
		if (!this.operations.names().contains(name)) {
			return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		return new WebEndpointResponse<>(new Released(name, token, this.operations.release(name, token)));
	}

	/** A name can have slashes in it, at which a web server splits it. */
	private static String name(String... segments) {
		return String.join("/", segments);
	}

	private Job describe(JobStatus status) {
		JobDefinition definition = this.operations.definition(status.job());
		return new Job(status.job(), (definition != null) ? definition.describeMethod() : null,
				Settings.of(this.operations.settings(status.job()), definition), status.lease(), status.schedules(),
				status.lastRun());
	}

	/**
	 * All jobs.
	 *
	 * @param namespace what groups them
	 * @param store where their leases are
	 * @param instance the instance that answers
	 * @param jobs the jobs, by name
	 */
	record Jobs(String namespace, String store, String instance, List<Job> jobs) {
	}

	/**
	 * One job.
	 *
	 * @param job its name
	 * @param method its method, or null if it is run by code
	 * @param settings what is configured for it
	 * @param lease who holds it
	 * @param schedules its fire times
	 * @param lastRun the last run that ended on this instance, or null
	 */
	record Job(String job, @Nullable String method, Settings settings, JobStatus.Lease lease,
			List<JobStatus.Schedule> schedules, JobStatus.@Nullable LastRun lastRun) {
	}

	/**
	 * What is configured for a job.
	 *
	 * @param ttl how long a silent holder keeps it
	 * @param renewEvery how often its lease is renewed
	 * @param stopEarly how long before the end of its lease the holder stops
	 * @param minHold how long it stays held at least, or null
	 * @param maxRun how long a run may last, or null
	 * @param onLost how the body is told
	 * @param handover how it changes hands
	 * @param onShutdown what becomes of a run when its application stops
	 * @param takeover whether open fire times are finished, or null if it is run by code
	 * @param continuous whether it runs all the time
	 */
	record Settings(Duration ttl, Duration renewEvery, Duration stopEarly, @Nullable Duration minHold,
			@Nullable Duration maxRun, OnLost onLost, Handover handover, OnShutdown onShutdown,
			@Nullable Takeover takeover, boolean continuous) {

		static Settings of(RunSettings settings, @Nullable JobDefinition definition) {
			return new Settings(settings.timing().ttl(), settings.timing().renewEvery(), settings.timing().stopEarly(),
					settings.length().minHold(), settings.length().maxRun(), settings.onLost(), settings.handover(),
					settings.onShutdown(), (definition != null) ? definition.takeover() : null,
					definition != null && definition.continuous());
		}

	}

	/**
	 * What came of a release.
	 *
	 * @param job the job's name
	 * @param token the token that was given
	 * @param released false if no lease with that token is held
	 */
	record Released(String job, long token, boolean released) {
	}

}
