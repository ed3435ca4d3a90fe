package io.github.singletonjob.etcd;

import java.util.concurrent.atomic.AtomicInteger;

import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;

/**
 * Counts the events that etcd delivers to watches.
 */
final class CountedEvents implements ClientInterceptor {

	private final AtomicInteger events = new AtomicInteger();

	int count() {
		return this.events.get();
	}

	@Override
	public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(MethodDescriptor<ReqT, RespT> method,
			CallOptions options, Channel next) {
		return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
			@Override
			public void start(Listener<RespT> listener, Metadata headers) {
				super.start(new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
					@Override
					public void onMessage(RespT message) {
						if (message instanceof WatchResponse response) {
							CountedEvents.this.events.addAndGet(response.getEventsCount());
						}
						super.onMessage(message);
					}
				}, headers);
			}
		};
	}

}
