package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.runtime.RunRequest;

/**
 * {@link SingletonJobs} with the configured settings.
 */
class DefaultSingletonJobs implements SingletonJobs {

	private final JobEngine engine;

	private final JobSettings settings;

	DefaultSingletonJobs(JobEngine engine, JobSettings settings) {
		this.engine = engine;
		this.settings = settings;
	}

	@Override
	public RunResult run(String job, JobOptions options, JobBody body) {
		try {
			return this.engine.run(new RunRequest(this.settings.id(job), this.settings.settings(job, options), null),
					body);
		}
		catch (InvalidJobException ex) {
			throw new IllegalArgumentException(ex.getMessage() + " " + ex.getAction(), ex);
		}
	}

}
