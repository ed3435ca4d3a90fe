package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.lease.FireTimes;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.runtime.HeldLease;
import io.github.singletonjob.runtime.RunSettings;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What operators see of jobs and can do to them.
 */
class JobOperations {

	private static final Log logger = LogFactory.getLog(JobOperations.class);

	private final JobEngine engine;

	private final JobSettings settings;

	private final JobDefinitions definitions;

	private final RunHistory history;

	private final JobNames jobNames;

	private final Clock clock = Clock.system(ZoneId.systemDefault());

	JobOperations(JobEngine engine, JobSettings settings, JobDefinitions definitions, RunHistory history,
			JobNames jobNames) {
		this.engine = engine;
		this.settings = settings;
		this.definitions = definitions;
		this.history = history;
		this.jobNames = jobNames;
	}

	/**
	 * The declared jobs, and those that have run here. A name that depends on the call is
	 * not the name of a job.
	 */
	Set<String> names() {
		Set<String> names = declaredNames();
		names.removeIf(JobNames::isExpression);
		names.addAll(this.history.jobs());
		return names;
	}

	/** The names with an annotation or settings. */
	Set<String> declaredNames() {
		TreeSet<String> names = new TreeSet<>(this.settings.names());
		this.definitions.all().forEach((job) -> names.add(job.id().name()));
		return names;
	}

	/** Looks at all jobs at once: thousands would take long one after the other. */
	List<JobStatus> statuses() {
		Set<String> names = names();
		Map<JobId, LeaseRecord> records = inspect(names);
		return names.stream().map((name) -> status(name, records.get(this.settings.id(name)))).toList();
	}

	private Map<JobId, LeaseRecord> inspect(Set<String> names) {
		Duration timeout = names.stream()
			.map((name) -> settings(name).timing().callTimeout())
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
		try {
			return names.isEmpty() ? Map.of()
					: this.engine.store().inspect(names.stream().map(this.settings::id).toList(), timeout);
		}
		catch (LeaseStoreException ex) {
			logger.debug("The store did not say who holds the leases: " + ex.getMessage());
			return Map.of();
		}
	}

	JobStatus status(String name) {
		return status(name, inspect(name));
	}

	/** The settings that the next run of a job has. */
	RunSettings settings(String name) {
		JobDefinition definition = definition(name);
		return (definition != null) ? definition.settings() : this.settings.settings(name, JobOptions.defaults());
	}

	@Nullable JobDefinition definition(String name) {
		String declared = this.jobNames.declared(name);
		return this.definitions.all().stream().filter((job) -> job.id().name().equals(declared)).findAny().orElse(null);
	}

	boolean release(String name, long token) {
		JobId job = this.settings.id(name);
		boolean released = this.engine.store().revoke(job, token, settings(name).timing().callTimeout());
		logger.warn(name + ": an operator wanted its lease with token " + token + " released: "
				+ (released ? "it was, and its run, if there still is one, is lost" : "no such lease is held"));
		return released;
	}

	private @Nullable LeaseRecord inspect(String name) {
		try {
			return this.engine.store().inspect(this.settings.id(name), settings(name).timing().callTimeout());
		}
		catch (LeaseStoreException ex) {
			logger.debug(name + ": the store did not say who holds it: " + ex.getMessage());
			return null;
		}
	}

	private JobStatus status(String name, @Nullable LeaseRecord record) {
		Map<String, FireTimes> fireTimes = (record != null) ? record.fireTimes() : Map.of();
		return new JobStatus(name, lease(name, record), schedules(name, fireTimes), this.history.lastRun(name));
	}

	private JobStatus.Lease lease(String name, @Nullable LeaseRecord record) {
		Duration deadline = this.engine.held()
			.stream()
			.filter((lease) -> lease.run().job().equals(name))
			.map(HeldLease::left)
			.min(Comparator.naturalOrder())
			.orElse(null);
		if (record == null) {
			return new JobStatus.Lease(JobStatus.State.UNKNOWN, null, 0, null, deadline);
		}
		return new JobStatus.Lease(record.held() ? JobStatus.State.HELD : JobStatus.State.FREE, record.holder(),
				record.token(), record.expiresIn(), deadline);
	}

	private List<JobStatus.Schedule> schedules(String name, Map<String, FireTimes> fireTimes) {
		Map<String, @Nullable Instant> next = new TreeMap<>();
		fireTimes.keySet().forEach((schedule) -> next.put(schedule, null));
		JobDefinition definition = definition(name);
		if (definition != null) {
			definition.schedules().crons().forEach((cron) -> next.put(cron.name(), next(cron)));
		}
		return next.entrySet().stream().map((entry) -> {
			FireTimes times = fireTimes.getOrDefault(entry.getKey(), FireTimes.NONE);
			return new JobStatus.Schedule(entry.getKey(), times.started(), times.completed(), entry.getValue());
		}).toList();
	}

	private @Nullable Instant next(CronSchedule cron) {
		ZoneId zone = cron.zone();
		var next = cron.expression().next(this.clock.instant().atZone((zone != null) ? zone : this.clock.getZone()));
		return (next != null) ? next.toInstant() : null;
	}

}
