package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.OnShutdown;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRecord;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.lease.Renewal;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of runs when their application stops.
 */
@Timeout(60)
class ShutdownTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private static final long A_WHILE = 300;

	private final ClosedStore store = new ClosedStore(new InMemoryLeaseStore());

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch end = new CountDownLatch(1);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class,
				LifecycleAutoConfiguration.class))
		.withBean("leases", LeaseStore.class, () -> this.store, (bean) -> bean.setDestroyMethodName(""))
		.withPropertyValues("singleton-job.namespace=shop", "singleton-job.lease.ttl=2s");

	@AfterEach
	void endBody() {
		this.end.countDown();
	}

	@Test
	void theStopOfARunningEngineEndsWithTheBodyAndNotBefore() {
		this.runner.run((context) -> {
			CompletableFuture<RunResult> run = start(context, OnShutdown.CANCEL, this::stubborn);
			CompletableFuture<Void> stopped = new CompletableFuture<>();
			context.getBean(JobEngine.class).stop(() -> stopped.complete(null));
			assertNever(stopped::isDone);
			this.end.countDown();
			assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
			assertThat(run.join().outcome()).isEqualTo(RunOutcome.CANCELLED);
		});
	}

	@Test
	void theStoreIsOpenAndTheLeaseIsRenewedUntilABodyThatDoesNotStopHasEnded() {
		this.runner.run((context) -> {
			CompletableFuture<RunResult> run = start(context, OnShutdown.CANCEL, this::stubborn);
			context.getBean(JobEngine.class).destroy();
			Awaitility.await()
				.during(Duration.ofSeconds(3))
				.atMost(Duration.ofSeconds(10))
				.until(() -> !this.store.closed.get() && this.store.inspect(BILLING, Duration.ofSeconds(1)).held());
			this.end.countDown();
			assertThat(run.join().outcome()).isEqualTo(RunOutcome.CANCELLED);
			Awaitility.await().atMost(Duration.ofSeconds(10)).until(this.store.closed::get);
			assertThat(this.store.inspect(BILLING, Duration.ofSeconds(1)).held()).isFalse();
		});
	}

	@Test
	void aRunThatMayFinishHoldsUpTheEndOfItsApplicationAndCompletes() {
		this.runner.run((context) -> {
			CompletableFuture<RunResult> run = start(context, OnShutdown.FINISH, this::patient);
			CompletableFuture<Void> closed = CompletableFuture
				.runAsync(() -> context.getSourceApplicationContext().close());
			assertNever(() -> run.isDone() || closed.isDone());
			this.end.countDown();
			assertThat(run.join().outcome()).isEqualTo(RunOutcome.COMPLETED);
			assertThat(closed).succeedsWithin(Duration.ofSeconds(10));
		});
	}

	@Test
	void aRunThatDoesNotFinishInTimeIsToldBeforeTheTimeIsOver() {
		this.runner.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=2s").run((context) -> {
			CompletableFuture<RunResult> run = start(context, OnShutdown.FINISH, this::patient);
			long begin = System.nanoTime();
			context.getSourceApplicationContext().close();
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofMillis(1300),
					Duration.ofMillis(1990));
			assertThat(run.join().outcome()).isEqualTo(RunOutcome.CANCELLED);
		});
	}

	@Test
	void aRunIsCancelledAtOnceUnlessSomethingElseIsSet() {
		this.runner.run((context) -> {
			CompletableFuture<RunResult> run = start(context, null, this::patient);
			context.getSourceApplicationContext().close();
			assertThat(run.join().outcome()).isEqualTo(RunOutcome.CANCELLED);
		});
	}

	@Test
	void whatARunMayIsSetForItsJobInTheCodeOrForAll() {
		this.runner.withUserConfiguration(Jobs.class)
			.withPropertyValues("singleton-job.on-shutdown=finish", "singleton-job.jobs.configured.on-shutdown=finish",
					"singleton-job.jobs.reset.on-shutdown=default")
			.run((context) -> {
				JobOperations operations = context.getBean(JobOperations.class);
				assertThat(List.of("plain", "annotated", "configured", "reset"))
					.extracting((name) -> operations.settings(name).onShutdown())
					.containsExactly(OnShutdown.FINISH, OnShutdown.CANCEL, OnShutdown.FINISH, OnShutdown.CANCEL);
			});
		this.runner.withUserConfiguration(Jobs.class)
			.run((context) -> assertThat(context.getBean(JobOperations.class).settings("plain").onShutdown())
				.isEqualTo(OnShutdown.CANCEL));
	}

	private CompletableFuture<RunResult> start(AssertableApplicationContext context, @Nullable OnShutdown onShutdown,
			Consumer<ShutdownTests> body) throws InterruptedException {
		SingletonJobs jobs = context.getBean(SingletonJobs.class);
		JobOptions options = new JobOptions(null, null, null, null, null, onShutdown);
		CompletableFuture<RunResult> run = CompletableFuture
			.supplyAsync(() -> jobs.run("billing", options, (held) -> body.accept(this)), (task) -> {
				Thread thread = new Thread(task, "job");
				thread.setDaemon(true);
				thread.start();
			});
		assertThat(this.begun.await(10, TimeUnit.SECONDS)).isTrue();
		return run;
	}

	/** A body that ends when it has done its work, or is told to stop. */
	private void patient(ShutdownTests test) {
		this.begun.countDown();
		try {
			assertThat(this.end.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** A body that does not care. */
	private void stubborn(ShutdownTests test) {
		this.begun.countDown();
		while (this.end.getCount() > 0) {
			patient(test);
			Thread.interrupted();
		}
	}

	private static void assertNever(java.util.concurrent.Callable<Boolean> condition) {
		Awaitility.await()
			.during(A_WHILE, TimeUnit.MILLISECONDS)
			.atMost(10, TimeUnit.SECONDS)
			.until(() -> !condition.call());
	}

	@Configuration(proxyBeanMethods = false)
	static class Jobs {

		@SingletonJob("plain")
		void plain() {
		}

		@SingletonJob(value = "annotated", onShutdown = OnShutdown.CANCEL)
		void annotated() {
		}

		@SingletonJob(value = "configured", onShutdown = OnShutdown.CANCEL)
		void configured() {
		}

		@SingletonJob(value = "reset", onShutdown = OnShutdown.CANCEL)
		void reset() {
		}

	}

	/**
	 * A store that knows whether it was closed.
	 *
	 * @param leases the store
	 * @param closed whether it was
	 */
	private record ClosedStore(LeaseStore leases, AtomicBoolean closed) implements LeaseStore, AutoCloseable {

		ClosedStore(LeaseStore leases) {
			this(leases, new AtomicBoolean());
		}

		@Override
		public io.github.singletonjob.lease.Acquisition tryAcquire(LeaseRequest request) {
			return this.leases.tryAcquire(request);
		}

		@Override
		public List<Renewal> renew(List<LeaseGrant> grants) {
			return this.leases.renew(grants);
		}

		@Override
		public boolean complete(LeaseGrant grant, java.time.Instant completed) {
			return this.leases.complete(grant, completed);
		}

		@Override
		public boolean release(LeaseGrant grant, java.time.@Nullable Instant completed) {
			return this.leases.release(grant, completed);
		}

		@Override
		public LeaseRecord inspect(JobId job, Duration timeout) {
			return this.leases.inspect(job, timeout);
		}

		@Override
		public void close() {
			this.closed.set(true);
		}

	}

}
