package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Jobs that return a {@link CompletionStage}, and an instance that stands by for them.
 */
@ExtendWith(OutputCaptureExtension.class)
class StageJobTests {

	private final InMemoryLeaseStore store = new InMemoryLeaseStore();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withBean("leases", InMemoryLeaseStore.class, () -> this.store)
		.withPropertyValues("singleton-job.namespace=shop", "singleton-job.lease.ttl=2s");

	@Test
	void aContinuousJobThatReturnsAStageIsStartedAgainAfterASecond(CapturedOutput output) {
		this.runner.withUserConfiguration(Live.class).run((context) -> {
			List<Long> starts = context.getBean(Live.class).starts();
			Awaitility.await().atMost(30, TimeUnit.SECONDS).until(() -> starts.size() >= 5);
			assertThat(Duration.ofNanos(starts.get(4) - starts.get(0))).isGreaterThan(Duration.ofSeconds(3));
		});
		assertThat(output).doesNotContain("standing by failed");
	}

	@Test
	void aStageWhoseCancellationBlocksHoldsUpNoRenewal() {
		CountDownLatch cancelling = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		CompletableFuture<String> otherWork = new CompletableFuture<>();
		this.runner
			.withBean("stages", Stages.class, () -> new Stages(blockingWhenCancelled(cancelling, release), otherWork))
			.run((context) -> {
				Stages stages = context.getBean(Stages.class);
				CompletableFuture<String> other = stages.other();
				CompletableFuture<String> unused = stages.blocking();
				assertThat(cancelling.await(10, TimeUnit.SECONDS)).isTrue();
				Awaitility.await()
					.atMost(10, TimeUnit.SECONDS)
					.during(3, TimeUnit.SECONDS)
					.until(() -> this.store.inspect(new JobId("shop", "other"), Duration.ofSeconds(1)).held());
				otherWork.complete("done");
				assertThat(other).succeedsWithin(Duration.ofSeconds(5)).isEqualTo("done");
				release.countDown();
			});
	}

	@Test
	void aStageIsNotStartedInsideAnOpenTransaction() {
		CompletableFuture<String> work = new CompletableFuture<>();
		this.runner.withBean("stages", Stages.class, () -> new Stages(work, work)).run((context) -> {
			Stages stages = context.getBean(Stages.class);
			TransactionSynchronizationManager.setActualTransactionActive(true);
			try {
				assertThatIllegalStateException().isThrownBy(stages::other).withMessageContaining("open transaction");
			}
			finally {
				TransactionSynchronizationManager.setActualTransactionActive(false);
			}
			assertThat(this.store.inspect(new JobId("shop", "other"), Duration.ofSeconds(1)).token()).isZero();
		});
	}

	private static CompletableFuture<String> blockingWhenCancelled(CountDownLatch cancelling, CountDownLatch release) {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> unused = work.whenComplete((value, failure) -> {
			cancelling.countDown();
			try {
				boolean unusedAnswer = release.await(20, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		return work;
	}

	@Configuration(proxyBeanMethods = false)
	static class Live {

		private final List<Long> starts = new CopyOnWriteArrayList<>();

		@SingletonJob(value = "live", continuous = true)
		public CompletionStage<String> count() {
			this.starts.add(System.nanoTime());
			return CompletableFuture.completedFuture("done");
		}

		/** When it was started, on the monotonic clock. */
		public List<Long> starts() {
			return this.starts;
		}

	}

	public static class Stages {

		private final @Nullable CompletableFuture<String> blocking;

		private final @Nullable CompletableFuture<String> other;

		/** For the proxy, which is made by it. */
		protected Stages() {
			this(null, null);
		}

		Stages(@Nullable CompletableFuture<String> blocking, @Nullable CompletableFuture<String> other) {
			this.blocking = blocking;
			this.other = other;
		}

		@SingletonJob(value = "blocking", maxRun = "1s")
		public @Nullable CompletableFuture<String> blocking() {
			return this.blocking;
		}

		@SingletonJob("other")
		public @Nullable CompletableFuture<String> other() {
			return this.other;
		}

	}

}
