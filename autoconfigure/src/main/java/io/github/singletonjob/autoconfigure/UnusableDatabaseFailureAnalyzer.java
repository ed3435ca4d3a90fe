package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.fencing.FenceUnusableException;
import io.github.singletonjob.lease.UnusableStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Says what to do about a database that answered, and cannot be used as it is.
 */
class UnusableDatabaseFailureAnalyzer implements FailureAnalyzer {

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof UnusableStoreException store) {
				return new FailureAnalysis(store.getMessage(), store.action(), store);
			}
			if (cause instanceof FenceUnusableException fence) {
				return new FailureAnalysis(fence.getMessage(), fence.getAction(), fence);
			}
		}
		return null;
	}

}
