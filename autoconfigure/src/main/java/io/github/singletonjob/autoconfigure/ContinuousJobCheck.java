package io.github.singletonjob.autoconfigure;

/**
 * Refuses jobs that are to run all the time and cannot.
 */
final class ContinuousJobCheck {

	private ContinuousJobCheck() {
	}

	static void check(JobDefinition job) {
		if (!job.start().continuous()) {
			return;
		}
		String where = "The job '" + job.id().name() + "' at " + job.describeMethod() + " is continuous";
		if (!job.start().schedules().isEmpty() || job.start().schedules().others()) {
			throw new InvalidJobException(where + " and has a schedule as well.",
					"Remove @Scheduled: a continuous job is started with the application and runs all the time."
							+ " Or remove continuous = true.");
		}
		if (JobNames.isExpression(job.id().name())) {
			throw new InvalidJobException(where + " and has a name that is evaluated for each call.",
					"Give it a plain name.");
		}
		if (job.method().getParameterCount() > 0) {
			throw new InvalidJobException(where + " and has parameters, for which nobody has values.",
					"Remove the parameters.");
		}
		if (job.settings().length().maxRun() != null) {
			throw new InvalidJobException(where + " and has a max-run, after which it would be cancelled.",
					"Remove max-run.");
		}
	}

}
