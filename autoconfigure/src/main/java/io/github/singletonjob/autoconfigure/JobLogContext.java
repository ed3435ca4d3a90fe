package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.lease.LeasedRun;
import io.github.singletonjob.runtime.RunScope;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The job and the token in the log lines of a body.
 */
class JobLogContext implements RunScope {

	/** The key of the job's name. */
	static final String JOB = "singleton.job";

	/** The key of the token. */
	static final String TOKEN = "singleton.job.token";

	@Override
	public Opened open(LeasedRun run) {
		String outerJob = MDC.get(JOB);
		String outerToken = MDC.get(TOKEN);
		MDC.put(JOB, run.job());
		MDC.put(TOKEN, Long.toString(run.token()));
		return () -> {
			restore(JOB, outerJob);
			restore(TOKEN, outerToken);
		};
	}

	private static void restore(String key, @Nullable String value) {
		if (value != null) {
			MDC.put(key, value);
		}
		else {
			MDC.remove(key);
		}
	}

}
