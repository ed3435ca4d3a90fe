package io.github.singletonjob.etcd;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;

/**
 * Notes the calls that a client makes.
 */
final class CountedCalls implements ClientInterceptor {

	private final Queue<String> names = new ConcurrentLinkedQueue<>();

	@Override
	public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(MethodDescriptor<ReqT, RespT> method,
			CallOptions options, Channel next) {
		this.names.add(method.getFullMethodName());
		return next.newCall(method, options);
	}

	List<String> names() {
		return List.copyOf(this.names);
	}

	void clear() {
		this.names.clear();
	}

}
