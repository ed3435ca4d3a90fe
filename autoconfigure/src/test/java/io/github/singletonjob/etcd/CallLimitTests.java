package io.github.singletonjob.etcd;

import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.WatchGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No call lasts for ever, but one that is meant to.
 */
class CallLimitTests {

	@Test
	void aRenewalAndItsStreamEnd() {
		Deadline deadline = deadline(LeaseGrpc.getLeaseKeepAliveMethod(), CallOptions.DEFAULT);
		assertThat(deadline).isNotNull();
		assertThat(deadline.timeRemaining(TimeUnit.MILLISECONDS)).isBetween(1L, CallLimit.LONGEST_CALL.toMillis());
	}

	@Test
	void aDeadlineOfTheCallersOwnIsKept() {
		Deadline own = Deadline.after(1, TimeUnit.HOURS);
		assertThat(deadline(LeaseGrpc.getLeaseGrantMethod(), CallOptions.DEFAULT.withDeadline(own))).isEqualTo(own);
	}

	@Test
	void aWatchGoesOn() {
		assertThat(deadline(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT)).isNull();
	}

	private static <A, B> @Nullable Deadline deadline(MethodDescriptor<A, B> method, CallOptions options) {
		NotedOptions channel = new NotedOptions();
		new CallLimit().interceptCall(method, options, channel);
		return channel.options.getDeadline();
	}

	/** Opens no call. */
	private static final class NotedOptions extends Channel {

		private CallOptions options = CallOptions.DEFAULT;

		@Override
		@SuppressWarnings("NullAway") // the call is not used
		public <A, B> ClientCall<A, B> newCall(MethodDescriptor<A, B> method, CallOptions callOptions) {
			this.options = callOptions;
			return null;
		}

		@Override
		public String authority() {
			return "none";
		}

	}

}
