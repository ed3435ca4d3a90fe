package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;

/**
 * Ends every call that has no answer after some time, also those whose caller has stopped
 * waiting long before, and the streams in which jetcd renews a lease. A watch is meant to
 * last and is left alone.
 */
final class CallLimit implements ClientInterceptor {

	static final Duration LONGEST_CALL = Duration.ofSeconds(5);

	private static final String WATCH = "etcdserverpb.Watch/Watch";

	@Override
	public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(MethodDescriptor<ReqT, RespT> method,
			CallOptions options, Channel next) {
		boolean unlimited = options.getDeadline() != null || WATCH.equals(method.getFullMethodName());
		return next.newCall(method,
				unlimited ? options : options.withDeadlineAfter(LONGEST_CALL.toMillis(), TimeUnit.MILLISECONDS));
	}

}
