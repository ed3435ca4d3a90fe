package io.github.singletonjob.etcd;

import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.github.singletonjob.lease.LeaseStoreException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * What the errors of etcd and of its client mean. Only their codes are shown, since their
 * texts have several lines.
 */
final class EtcdFailure {

	private EtcdFailure() {
	}

	/** Whether etcd says that it does not know the lease. */
	static boolean isLeaseNotFound(Throwable failure) {
		return code(failure) == Status.Code.NOT_FOUND;
	}

	/** Whether this is no answer of etcd, but the lack of one. */
	static boolean isSilence(Throwable failure) {
		return any(failure, (cause) -> {
			Status.Code code = ownCode(cause);
			return cause instanceof TimeoutException || code == Status.Code.UNAVAILABLE
					|| code == Status.Code.DEADLINE_EXCEEDED || code == Status.Code.CANCELLED;
		});
	}

	/** Whether a text of etcd's occurs anywhere in the failure. */
	static boolean says(Throwable failure, String text) {
		return any(failure, (cause) -> {
			String message = cause.getMessage();
			return message != null && message.contains(text);
		});
	}

	static Status.Code code(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			Status.Code code = ownCode(cause);
			if (code != null) {
				return code;
			}
		}
		return Status.Code.UNKNOWN;
	}

	static LeaseStoreException unknown(String purpose, Throwable failure) {
		if (failure instanceof TimeoutException) {
			return new LeaseStoreException(purpose + " failed: no answer from etcd in time", failure);
		}
		String hint = any(failure, SSLException.class::isInstance)
				? ", because the encrypted connection was refused: see the certificates in singleton-job.etcd.tls" : "";
		return new LeaseStoreException(purpose + " failed: etcd or its client says " + code(failure) + hint, failure);
	}

	private static boolean any(Throwable failure, Predicate<Throwable> condition) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (condition.test(cause)) {
				return true;
			}
		}
		return false;
	}

	private static Status.@Nullable Code ownCode(Throwable failure) {
		if (failure instanceof EtcdException etcd) {
			ErrorCode code = etcd.getErrorCode();
			return Status.Code.valueOf(code.name());
		}
		if (failure instanceof StatusRuntimeException refused) {
			return refused.getStatus().getCode();
		}
		return (failure instanceof StatusException refused) ? refused.getStatus().getCode() : null;
	}

}
