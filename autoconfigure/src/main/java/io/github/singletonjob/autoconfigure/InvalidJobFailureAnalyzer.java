package io.github.singletonjob.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what to do about a job that cannot work.
 */
class InvalidJobFailureAnalyzer extends AbstractFailureAnalyzer<InvalidJobException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidJobException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.getAction(), cause);
	}

}
