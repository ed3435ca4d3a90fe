package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

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
	void aTakeoverOfAJobThatReturnsAStageIsNotReportedAsNotReached(CapturedOutput output) {
		JobId report = new JobId("shop", "report");
		Instant one = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(30, ChronoUnit.HOURS);
		LeaseRequest request = new LeaseRequest(report, UUID.randomUUID().toString(), "another", Duration.ofSeconds(90),
				Duration.ofSeconds(1), 0, new Firing("", one, true));
		this.store.release(((Acquisition.Acquired) this.store.tryAcquire(request)).grant(), null);
		this.runner.withUserConfiguration(Report.class).run((context) -> {
			Awaitility.await()
				.atMost(10, TimeUnit.SECONDS)
				.until(() -> one
					.equals(this.store.inspect(report, Duration.ofSeconds(1)).fireTimes().get("").completed()));
			Awaitility.await().during(500, TimeUnit.MILLISECONDS).until(() -> true);
		});
		assertThat(output).doesNotContain("standing by failed");
	}

	@Test
	void aContinuousJobThatReturnsAStageIsStartedAgainAfterASecond(CapturedOutput output) {
		this.runner.withUserConfiguration(Live.class)
			.run((context) -> Awaitility.await()
				.atMost(6, TimeUnit.SECONDS)
				.until(() -> context.getBean(Live.class).starts() >= 5));
		assertThat(output).doesNotContain("standing by failed");
	}

	@Test
	void aStageWhoseCancellationBlocksHoldsUpNeitherRenewalsNorTheStop() {
		Stubborn[] stubborn = new Stubborn[1];
		this.runner.withUserConfiguration(Stubborn.class).run((context) -> {
			stubborn[0] = context.getBean(Stubborn.class);
			CompletableFuture<String> other = stubborn[0].other();
			CompletableFuture<String> blocking = stubborn[0].blocking();
			// Its limit is over, and its cancellation goes on
			Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> stubborn[0].cancelling.getCount() == 0);
			Awaitility.await().during(3, TimeUnit.SECONDS).until(() -> !other.isDone());
			assertThat(this.store.inspect(new JobId("shop", "other"), Duration.ofSeconds(1)).held()).isTrue();
			stubborn[0].otherWork.complete("done");
			assertThat(other).succeedsWithin(Duration.ofSeconds(5)).isEqualTo("done");
			assertThat(blocking).isNotDone();
			stubborn[0].release.countDown();
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Report {

		@Scheduled(cron = "0 0 1 1 1 *")
		@SingletonJob("report")
		public CompletionStage<String> report() {
			return CompletableFuture.supplyAsync(() -> "done");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Live {

		private final AtomicInteger starts = new AtomicInteger();

		@SingletonJob(value = "live", continuous = true)
		public CompletionStage<String> count() {
			this.starts.incrementAndGet();
			return CompletableFuture.completedFuture("done");
		}

		public int starts() {
			return this.starts.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Stubborn {

		final CountDownLatch cancelling = new CountDownLatch(1);

		final CountDownLatch release = new CountDownLatch(1);

		final CompletableFuture<String> otherWork = new CompletableFuture<>();

		@SingletonJob(value = "blocking", maxRun = "1s")
		public CompletableFuture<String> blocking() {
			CompletableFuture<String> work = new CompletableFuture<>();
			CompletableFuture<String> unused = work.whenComplete((value, failure) -> {
				this.cancelling.countDown();
				try {
					this.release.await(20, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
			return work;
		}

		@SingletonJob("other")
		public CompletableFuture<String> other() {
			return this.otherWork;
		}

	}

}
