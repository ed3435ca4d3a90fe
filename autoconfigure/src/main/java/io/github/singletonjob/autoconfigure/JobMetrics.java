package io.github.singletonjob.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.runtime.HeldLease;
import io.github.singletonjob.runtime.RenewalReport;
import io.github.singletonjob.runtime.RunListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * The metrics of jobs. Those of declared jobs are there from the start, with zeros, so
 * that an alert does not have to wait for the first accident.
 */
class JobMetrics implements RunListener, ApplicationListener<ContextRefreshedEvent> {

	private static final String GRANTED = "granted";

	private static final String NOT_STARTED = "not_started";

	private final MeterRegistry registry;

	private final JobTags tags;

	private final Supplier<List<HeldLease>> held;

	private final Set<String> registered = ConcurrentHashMap.newKeySet();

	JobMetrics(MeterRegistry registry, JobTags tags, Supplier<List<HeldLease>> held) {
		this.registry = registry;
		this.tags = tags;
		this.held = held;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		this.tags.declared().forEach(this::tag);
	}

	@Override
	public void skipped(JobId job, RunOutcome outcome) {
		attempts(tag(job.name()), outcome.name().toLowerCase(Locale.ROOT)).increment();
	}

	@Override
	public void notStarted(JobId job, Throwable cause) {
		attempts(tag(job.name()), NOT_STARTED).increment();
	}

	@Override
	public void granted(LeasedRun run) {
		String job = tag(run.job());
		attempts(job, GRANTED).increment();
		if (run.isTakeover()) {
			takeovers(job).increment();
		}
	}

	@Override
	public void renewed(LeasedRun run, RenewalReport report) {
		String job = tag(run.job());
		renewals(job, report.answer()).record(report.took());
		left(job).record(report.left());
	}

	@Override
	public void refused(LeasedRun run, StaleTokenException refusal) {
		refusals(tag(run.job())).increment();
	}

	@Override
	public void lost(LeasedRun run, String reason) {
		losses(tag(run.job())).increment();
	}

	private String tag(String job) {
		String tag = this.tags.of(job);
		if (this.registered.add(tag)) {
			register(tag);
		}
		return tag;
	}

	private void register(String job) {
		List.of(GRANTED, NOT_STARTED, "skipped_held", "skipped_already_ran").forEach((result) -> attempts(job, result));
		List.of(Renewal.values()).forEach((answer) -> renewals(job, answer));
		left(job);
		takeovers(job);
		losses(job);
		refusals(job);
		Gauge.builder("singleton.job.leases", () -> held(job))
			.description("Leases that this instance holds and renews")
			.tag("job", job)
			.register(this.registry);
	}

	private long held(String job) {
		return this.held.get().stream().filter((lease) -> this.tags.of(lease.run().job()).equals(job)).count();
	}

	private Counter attempts(String job, String result) {
		return Counter.builder("singleton.job.attempts")
			.description("Attempts to run a job, by what came of them")
			.tag("job", job)
			.tag("result", result)
			.register(this.registry);
	}

	private Counter takeovers(String job) {
		return counter("singleton.job.takeovers", "Runs that took over a fire time which another run had left open",
				job);
	}

	private Counter losses(String job) {
		return counter("singleton.job.lost", "Runs that lost their lease, or were refused, before their body ended",
				job);
	}

	private Counter refusals(String job) {
		return counter("singleton.job.stale.writes", "Writes of stale runs that the guarded database has refused", job);
	}

	private Counter counter(String name, String description, String job) {
		return Counter.builder(name).description(description).tag("job", job).register(this.registry);
	}

	private Timer renewals(String job, Renewal answer) {
		return Timer.builder("singleton.job.renewals")
			.description("Calls to the store that renew a lease; one call renews several")
			.tag("job", job)
			.tag("answer", answer.name().toLowerCase(Locale.ROOT))
			.register(this.registry);
	}

	private Timer left(String job) {
		return Timer.builder("singleton.job.renewal.left")
			.description("The time to the deadline of a lease when its renewal is sent")
			.tag("job", job)
			.register(this.registry);
	}

}
