package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import io.github.singletonjob.Handover;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.Takeover;
import io.github.singletonjob.autoconfigure.SingletonJobProperties.Autocommit;
import io.github.singletonjob.autoconfigure.SingletonJobProperties.Job;
import io.github.singletonjob.autoconfigure.SingletonJobProperties.Lease;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.runtime.LeaseTiming;
import io.github.singletonjob.runtime.RunSettings.Length;
import io.github.singletonjob.runtime.RunSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Puts together what is configured for a job: its own settings beat those in the code,
 * which beat the defaults.
 */
class JobSettings {

	private static final Job NOTHING = new Job(null, null, null, null, null, null, null, null, null, Autocommit.FENCE);

	private final SingletonJobProperties properties;

	private final String namespace;

	JobSettings(SingletonJobProperties properties, Environment environment) {
		this.properties = properties;
		this.namespace = namespace(properties, environment);
	}

	String namespace() {
		return this.namespace;
	}

	JobId id(String name) {
		try {
			JobId id = new JobId(this.namespace, name);
			JobNames.requirePlain("job name", name);
			return id;
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(String.valueOf(ex.getMessage()), "Name the job with 1 to 300 characters.");
		}
	}

	/** Where leases are, as the property names it; {@code custom} for a bean. */
	String storeName() {
		StoreType store = this.properties.store();
		return (store != null) ? store.name().toLowerCase(Locale.ROOT).replace('_', '-') : "custom";
	}

	/** What all jobs share, for people. */
	String describe() {
		LeaseTiming timing = timing();
		StoreType store = this.properties.store();
		return "in namespace '" + this.namespace + "', leases in "
				+ ((store != null) ? storeName() : "the LeaseStore bean") + ", ttl " + timing.ttl().toMillis()
				+ " ms, renewed every " + timing.renewEvery().toMillis() + " ms unless set for a job, fencing "
				+ (this.properties.fencing().enabled() ? "on" : "off");
	}

	/** The names that have settings of their own, whether or not there is such a job. */
	Set<String> names() {
		return this.properties.jobs().keySet();
	}

	Takeover takeover(String name, Takeover annotated) {
		Takeover own = this.properties.jobs().getOrDefault(name, NOTHING).takeover();
		return (own != null) ? own : annotated;
	}

	RunSettings settings(String name, JobOptions options) {
		Job job = this.properties.jobs().getOrDefault(name, NOTHING);
		try {
			Length length = new Length(first(job.minHold(), options.minHold()), first(job.maxRun(), options.maxRun()));
			OnLost onLost = first(job.onLost(), options.onLost());
			Handover handover = first(job.handover(), options.handover());
			return new RunSettings(timing(job, options), length, (onLost != null) ? onLost : OnLost.INTERRUPT,
					(handover != null) ? handover : Handover.FAST, onShutdown(job, options),
					job.autocommit() == Autocommit.ALLOW);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException("Job '" + name + "': " + ex.getMessage(), "Correct singleton-job.jobs." + name
					+ ", the attributes of its annotation, or singleton-job.lease.");
		}
	}

	/** The times of a job that has none of its own. */
	private LeaseTiming timing() {
		try {
			return timing(NOTHING, JobOptions.defaults());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(ex.getMessage() + ".", "Correct singleton-job.lease.");
		}
	}

	private OnShutdown onShutdown(Job job, JobOptions options) {
		return Stream.of(job.onShutdown(), options.onShutdown(), this.properties.onShutdown())
			.filter((each) -> each != null && each != OnShutdown.DEFAULT)
			.findFirst()
			.orElse(OnShutdown.CANCEL);
	}

	private LeaseTiming timing(Job job, JobOptions options) {
		Lease lease = this.properties.lease();
		Duration own = first(job.ttl(), options.ttl());
		if (own == null || own.equals(lease.ttl())) {
			return LeaseTiming.of(lease.ttl(), first(job.renewEvery(), lease.renewEvery()),
					first(job.stopEarly(), lease.stopEarly()));
		}
		return LeaseTiming.of(own, job.renewEvery(), job.stopEarly());
	}

	private static <T> @Nullable T first(@Nullable T first, @Nullable T second) {
		return (first != null) ? first : second;
	}

	private static String namespace(SingletonJobProperties properties, Environment environment) {
		String namespace = first(properties.namespace(), environment.getProperty("spring.application.name"));
		if (!StringUtils.hasText(namespace)) {
			throw new InvalidJobException("The jobs of this application have no namespace.",
					"Set singleton-job.namespace or spring.application.name. Instances that share jobs share the"
							+ " namespace; applications that do not must have different ones.");
		}
		try {
			new JobId(namespace, "any");
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidJobException(String.valueOf(ex.getMessage()), "Correct singleton-job.namespace.");
		}
		return namespace;
	}

}
