package io.github.singletonjob.etcd;

import io.etcd.jetcd.api.TxnRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;

/**
 * Loses the replies to what is written, while it is told to: etcd has done it then, and
 * the client does not hear of it.
 */
final class LostReplies implements ClientInterceptor {

	private volatile boolean losing;

	void lose(boolean from) {
		this.losing = from;
	}

	@Override
	public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(MethodDescriptor<ReqT, RespT> method,
			CallOptions options, Channel next) {
		return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {

			private volatile boolean lost;

			@Override
			public void start(Listener<RespT> listener, Metadata headers) {
				super.start(new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
					@Override
					public void onMessage(RespT message) {
						if (!isLost()) {
							super.onMessage(message);
						}
					}

					@Override
					public void onClose(Status status, Metadata trailers) {
						if (!isLost()) {
							super.onClose(status, trailers);
						}
					}
				}, headers);
			}

			@Override
			public void sendMessage(ReqT message) {
				this.lost = LostReplies.this.losing && message instanceof TxnRequest txn
						&& txn.getSuccessList().stream().anyMatch((op) -> op.hasRequestPut());
				super.sendMessage(message);
			}

			private boolean isLost() {
				return this.lost;
			}
		};
	}

}
