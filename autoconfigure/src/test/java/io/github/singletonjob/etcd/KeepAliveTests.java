package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.github.singletonjob.lease.LeaseStoreException;
import io.grpc.Status;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What counts as a renewal of a lease of etcd.
 */
class KeepAliveTests {

	private static final long SENT = 1000;

	private final SharedLease lease = new SharedLease(7, Duration.ofSeconds(10), 0);

	@Test
	void anAnswerOfTheSameOrALaterTermCounts() {
		assertThat(isConfirmed(answer(10, 5), 5)).isTrue();
		assertThat(isConfirmed(answer(10, 6), 5)).isTrue();
		assertThat(this.lease.isConfirmedSince(SENT)).isTrue();
		assertThat(this.lease.isConfirmedSince(SENT + 1)).isFalse();
	}

	/** The member that answered may have been replaced without knowing it. */
	@Test
	void anAnswerOfAnEarlierTermIsNoAnswer() {
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> isConfirmed(answer(10, 4), 5));
		assertThat(this.lease.isConfirmedSince(SENT)).isFalse();
	}

	@Test
	void aLeaseThatIsOverIsGone() {
		assertThat(isConfirmed(answer(0, 5), 5)).isFalse();
		assertThat(isConfirmed(answer(-1, 5), 5)).isFalse();
		assertThat(isConfirmed(CompletableFuture.failedFuture(Status.NOT_FOUND.asRuntimeException()), 5)).isFalse();
		assertThat(this.lease.isConfirmedSince(SENT)).isFalse();
	}

	@Test
	void aFailureIsUnknownAndShownByItsCodeOnly() {
		CompletableFuture<LeaseKeepAliveResponse> failed = CompletableFuture
			.failedFuture(Status.UNAVAILABLE.withDescription("several\nlines").asRuntimeException());
		assertThatExceptionOfType(LeaseStoreException.class).isThrownBy(() -> isConfirmed(failed, 5))
			.withMessage("Renewing failed: etcd or its client says UNAVAILABLE");
		assertThatExceptionOfType(LeaseStoreException.class)
			.isThrownBy(() -> new KeepAlive(this.lease, SENT, new CompletableFuture<>()).isConfirmed(5,
					Replies.deadlineIn(Duration.ofMillis(10)), "Renewing"))
			.withMessage("Renewing failed: no answer from etcd in time");
	}

	private boolean isConfirmed(CompletableFuture<LeaseKeepAliveResponse> reply, long term) {
		return new KeepAlive(this.lease, SENT, reply).isConfirmed(term, Replies.deadlineIn(Duration.ofSeconds(5)),
				"Renewing");
	}

	private static CompletableFuture<LeaseKeepAliveResponse> answer(long ttl, long term) {
		return CompletableFuture
			.completedFuture(new LeaseKeepAliveResponse(io.etcd.jetcd.api.LeaseKeepAliveResponse.newBuilder()
				.setID(7)
				.setTTL(ttl)
				.setHeader(ResponseHeader.newBuilder().setRaftTerm(term))
				.build()));
	}

}
