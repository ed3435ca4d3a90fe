package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.Status;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One silent member does not make a request fail.
 */
class TwoTriesTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final List<CompletableFuture<String>> tries = List.of(new CompletableFuture<>(), new CompletableFuture<>(),
			new CompletableFuture<>());

	private final AtomicInteger sent = new AtomicInteger();

	private final TwoTries<String> request = new TwoTries<>(() -> this.tries.get(this.sent.getAndIncrement()));

	@Test
	void oneIsSentIfItIsAnswered() {
		CompletableFuture<String> answer = this.request.start(LONG);
		this.tries.get(0).complete("first");
		assertThat(answer).isCompletedWithValue("first");
		assertThat(this.sent).hasValue(1);
	}

	@Test
	void anotherIsSentAfterSomeTime() throws Exception {
		this.tries.get(1).complete("second");
		assertThat(this.request.start(Duration.ofMillis(10)).get(10, TimeUnit.SECONDS)).isEqualTo("second");
	}

	@Test
	void anotherIsSentIfTheConnectionIsLost() {
		CompletableFuture<String> answer = this.request.start(LONG);
		this.tries.get(0).completeExceptionally(Status.UNAVAILABLE.asRuntimeException());
		assertThat(answer).isNotDone();
		this.tries.get(1).complete("second");
		assertThat(answer).isCompletedWithValue("second");
	}

	@Test
	void bothCanFail() {
		CompletableFuture<String> answer = this.request.start(LONG);
		this.tries.get(0).completeExceptionally(Status.UNAVAILABLE.asRuntimeException());
		this.tries.get(1).completeExceptionally(Status.UNAVAILABLE.asRuntimeException());
		assertThat(answer).isCompletedExceptionally();
		assertThat(this.sent).hasValue(2);
	}

	@Test
	void aRefusalIsAnAnswer() {
		CompletableFuture<String> answer = this.request.start(LONG);
		this.tries.get(0).completeExceptionally(Status.NOT_FOUND.asRuntimeException());
		assertThat(answer).isCompletedExceptionally();
		assertThat(this.sent).hasValue(1);
	}

}
