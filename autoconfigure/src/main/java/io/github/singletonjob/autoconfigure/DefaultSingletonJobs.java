package io.github.singletonjob.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunRequest;

/**
 * {@link SingletonJobs} with the configured settings.
 */
class DefaultSingletonJobs implements SingletonJobs {

	private final JobEngine engine;

	private final JobSettings settings;

	private final JobOperations operations;

	DefaultSingletonJobs(JobEngine engine, JobSettings settings, JobOperations operations) {
		this.engine = engine;
		this.settings = settings;
		this.operations = operations;
	}

	@Override
	public RunResult run(String job, JobOptions options, JobBody body) {
		return withLegalName(() -> this.engine
			.run(new RunRequest(this.settings.id(job), this.settings.settings(job, options), null), body));
	}

	@Override
	public List<JobStatus> jobs() {
		return this.operations.statuses();
	}

	@Override
	public boolean release(String job, long token) {
		return withLegalName(() -> this.operations.release(job, token));
	}

	@Override
	public void assertHeld(String job) {
		Optional<LeasedRun> around = CurrentJobRun.find()
			.filter(LeasedRun.class::isInstance)
			.map(LeasedRun.class::cast);
		while (around.isPresent() && !around.get().job().equals(job)) {
			around = around.get().enclosing();
		}
		around.ifPresentOrElse(JobRun::ensureHeld, () -> {
			throw new IllegalStateException(job + ": thread '" + Thread.currentThread().getName()
					+ "' is not inside a run of this job. Was its method called from within its own object, past the"
					+ " proxy? Call it on the bean, or run it by SingletonJobs.run");
		});
	}

	private static <T> T withLegalName(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (InvalidJobException ex) {
			throw new IllegalArgumentException(ex.getMessage() + " " + ex.getAction(), ex);
		}
	}

}
