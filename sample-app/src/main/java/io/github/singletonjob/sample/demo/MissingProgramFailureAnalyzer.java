package io.github.singletonjob.sample.demo;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what to install.
 */
final class MissingProgramFailureAnalyzer extends AbstractFailureAnalyzer<MissingProgramException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MissingProgramException cause) {
		return new FailureAnalysis("The demo cannot start the lease store: " + cause.getMessage(),
				cause.remedy() + ", or leave out --singleton-job.store: the leases are in Postgres then.", cause);
	}

}
