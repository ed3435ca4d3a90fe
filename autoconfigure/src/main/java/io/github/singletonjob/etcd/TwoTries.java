package io.github.singletonjob.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Sends a request, and once more if the first has no answer for some time or lost its
 * connection. gRPC goes from member to member, so the second reaches another one. The
 * first answer counts.
 *
 * @param <T> the type of the answer
 */
final class TwoTries<T> {

	private static final int TRIES = 2;

	private final CompletableFuture<T> answer = new CompletableFuture<>();

	private final AtomicInteger sent = new AtomicInteger();

	private final AtomicInteger failed = new AtomicInteger();

	private final Supplier<CompletableFuture<T>> request;

	TwoTries(Supplier<CompletableFuture<T>> request) {
		this.request = request;
	}

	CompletableFuture<T> start(Duration patience) {
		send();
		CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS).execute(this::send);
		return this.answer;
	}

	private void send() {
		if (!this.answer.isDone() && this.sent.incrementAndGet() <= TRIES) {
			CompletableFuture<T> unused = this.request.get().whenComplete(this::received);
		}
	}

	private void received(T reply, @Nullable Throwable failure) {
		if (failure == null) {
			this.answer.complete(reply);
		}
		else if (!EtcdFailure.isSilence(failure) || this.failed.incrementAndGet() == TRIES) {
			this.answer.completeExceptionally(failure);
		}
		else {
			send();
		}
	}

}
