package io.github.singletonjob.redis;

import java.util.concurrent.CancellationException;

import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.StoreCall;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Says what the client library's exceptions mean.
 */
final class RedisFailure {

	private RedisFailure() {
	}

	/** The call may have been executed or not. */
	static LeaseStoreException unknown(StoreCall call, @Nullable RuntimeException failure) {
		return call.unknown(explain(failure), failure);
	}

	/** In words of the server, or of the network, where there are some. */
	static String explain(@Nullable Throwable failure) {
		if (failure == null) {
			return "Redis gave an answer that makes no sense";
		}
		RedisCommandExecutionException refusal = refusal(failure);
		if (refusal != null) {
			return String.valueOf(refusal.getMessage());
		}
		Throwable root = failure;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		if (root instanceof CancellationException) {
			return Thread.currentThread().isInterrupted() ? "the thread was interrupted before Redis answered"
					: "no answer from Redis in time";
		}
		return (root.getMessage() != null) ? root.getMessage() : root.getClass().getSimpleName();
	}

	/** The error that Redis answered with, if that is what happened. */
	static @Nullable RedisCommandExecutionException refusal(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof RedisCommandExecutionException refusal) {
				return refusal;
			}
		}
		return null;
	}

}
