package io.github.singletonjob.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The run on other threads.
 */
class PropagationTests {

	private static final long LIMIT_SECONDS = 20;

	private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(SingletonJobAutoConfiguration.class, TaskExecutionAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop")
		.withUserConfiguration(Workers.class);

	@Test
	void asyncMethodsSeeTheRunWithADecorator() {
		this.runner.withUserConfiguration(Decorator.class).run(PropagationTests::assertAsyncMethodsSeeTheRun);
	}

	@Test
	void asyncMethodsSeeTheRunWithOneProperty() {
		assumeTrue(SpringBootVersion.getVersion().compareTo("4.1") >= 0, "The property is new in Spring Boot 4.1");
		this.runner.withPropertyValues("spring.task.execution.propagate-context=true")
			.run(PropagationTests::assertAsyncMethodsSeeTheRun);
	}

	private static void assertAsyncMethodsSeeTheRun(ApplicationContext context) {
		Worker worker = context.getBean(Worker.class);
		run(context, (run) -> {
			assertThat(get(worker.call(JobRun::current))).isSameAs(run);
			assertThat(get(worker.call(worker::token))).isEqualTo(run.token());
		});
		assertThat(get(worker.call(() -> CurrentJobRun.find().isPresent()))).isEqualTo(false);
	}

	@Test
	void asyncMethodsThatDoNotSeeTheRunSayWhatToDo() {
		this.runner.run((context) -> {
			Worker worker = context.getBean(Worker.class);
			run(context,
					(run) -> assertThat(get(worker.call(PropagationTests::failure))).asString()
						.contains("No job run on thread 'task-")
						.contains("spring.task.execution.propagate-context=true")
						.contains("ContextPropagatingTaskDecorator")
						.contains("CurrentJobRun.open(run)"));
		});
	}

	@Test
	void aThreadSeesTheEndOfTheRun() {
		this.runner.withUserConfiguration(Decorator.class).run((context) -> {
			Worker worker = context.getBean(Worker.class);
			CompletableFuture<Object> ended = new CompletableFuture<>();
			List<CompletableFuture<Object>> late = new ArrayList<>();
			run(context, (run) -> late.add(worker.call(() -> {
				get(ended);
				JobRun seen = JobRun.current();
				return seen.job() + " " + seen.isHeld();
			})));
			ended.complete("");
			assertThat(get(late.get(0))).isEqualTo("billing false");
		});
	}

	@Test
	void aThreadGetsBackWhatItHadBefore() {
		this.runner.run((context) -> run(context, (outer) -> {
			ContextSnapshot[] inner = new ContextSnapshot[1];
			ContextSnapshot none = onAnotherThread(this.snapshots::captureAll);
			context.getBean(SingletonJobs.class).run("statements", (run) -> inner[0] = this.snapshots.captureAll());
			try (var scope = inner[0].setThreadLocals()) {
				assertThat(JobRun.current().job()).isEqualTo("statements");
			}
			assertThat(JobRun.current()).isSameAs(outer);
			try (var scope = none.setThreadLocals()) {
				assertThat(JobRun.current()).isSameAs(outer);
			}
			assertThat(JobRun.current()).isSameAs(outer);
		}));
	}

	@Test
	void aContextWithoutARunTakesItAwayWhereThatIsWanted() {
		ContextSnapshotFactory clearing = ContextSnapshotFactory.builder().clearMissing(true).build();
		this.runner.run((context) -> run(context, (run) -> {
			ContextSnapshot none = onAnotherThread(clearing::captureAll);
			try (var scope = none.setThreadLocals()) {
				assertThat(CurrentJobRun.find()).isEmpty();
			}
			assertThat(JobRun.current()).isSameAs(run);
		}));
	}

	@Test
	void aParallelStreamReadsTheRunOnTheJobsOwnThreadOnly() {
		this.runner.run((context) -> run(context, (run) -> {
			CyclicBarrier two = new CyclicBarrier(2);
			List<String> read = IntStream.range(0, 2).parallel().mapToObj((i) -> {
				await(two);
				return CurrentJobRun.find().isPresent() ? "token " + JobRun.current().token() : failure();
			}).toList();
			assertThat(read).filteredOn((line) -> line.equals("token " + run.token())).hasSize(1);
			assertThat(read)
				.filteredOn((line) -> line.contains("The common pool and parallel streams propagate nothing"))
				.hasSize(1);
		}));
	}

	@Test
	void aSuspendedRunIsNotSeen() {
		this.runner.run((context) -> run(context, (run) -> {
			try (var outside = CurrentJobRun.suspend()) {
				assertThat(CurrentJobRun.find()).isEmpty();
				assertThatIllegalStateException().isThrownBy(JobRun::current);
			}
			assertThat(JobRun.current()).isSameAs(run);
		}));
	}

	private static String failure() {
		try {
			return "read " + JobRun.current();
		}
		catch (IllegalStateException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	private static void run(ApplicationContext context, JobBody body) {
		RunResult result = context.getBean(SingletonJobs.class).run("billing", body);
		assertThat(result.failure()).isNull();
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	private static Object get(CompletableFuture<?> future) {
		try {
			return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(LIMIT_SECONDS, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	private static <T> T onAnotherThread(Callable<T> work) throws Exception {
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			return executor.submit(work).get(LIMIT_SECONDS, TimeUnit.SECONDS);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class Workers {

		@Bean
		Worker worker(JobRun run) {
			return new Worker(run);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Decorator {

		@Bean
		TaskDecorator contextPropagatingTaskDecorator() {
			return new ContextPropagatingTaskDecorator();
		}

	}

	static class Worker {

		private final JobRun injected;

		Worker(JobRun injected) {
			this.injected = injected;
		}

		long token() {
			return this.injected.token();
		}

		@Async
		CompletableFuture<Object> call(Supplier<Object> task) {
			return CompletableFuture.completedFuture(task.get());
		}

	}

}
