package io.github.singletonjob.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.singletonjob.JobOptions;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.LeaseStore;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import io.github.singletonjob.runtime.RunSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The wiring, without a server.
 */
@ExtendWith(OutputCaptureExtension.class)
class SingletonJobAutoConfigurationTests {

	private final ApplicationContextRunner empty = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class, TaskExecutionAutoConfiguration.class));

	private final ApplicationContextRunner runner = this.empty.withPropertyValues("singleton-job.store=in-memory",
			"singleton-job.namespace=shop", "singleton-job.holder=server-1");

	@Test
	void aJobRunsOnceWithItsRunInjected() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			Billing billing = context.getBean(Billing.class);
			billing.charge();
			billing.charge();
			assertThat(target(billing).runs).hasSize(2);
			assertThat(target(billing).runs.get(0)).startsWith("billing server-1 ");
			assertThat(target(billing).tokens.get(1)).isEqualTo(target(billing).tokens.get(0) + 1);
		});
	}

	@Test
	void aJobThatIsHeldIsSkipped() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			Billing billing = context.getBean(Billing.class);
			RunResult result = context.getBean(SingletonJobs.class).run("billing", (run) -> onAnotherThread(() -> {
				billing.charge();
				return "";
			}));
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
			assertThat(target(billing).runs).isEmpty();
		});
	}

	@Test
	void aSkippedRunOfAJobThatReturnsAnOptionalIsEmpty() {
		this.runner.withUserConfiguration(Report.class).run((context) -> {
			Report report = context.getBean(Report.class);
			assertThat(report.lines()).contains(3);
			RunResult result = context.getBean(SingletonJobs.class)
				.run("report", (run) -> assertThat(onAnotherThread(report::lines)).isEmpty());
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
		});
	}

	@Test
	void theExceptionOfTheBodyIsThrownAsItIs() {
		this.runner.withUserConfiguration(Failing.class)
			.run((context) -> assertThatIllegalStateException().isThrownBy(context.getBean(Failing.class)::fail)
				.withMessage("card network down"));
	}

	@Test
	void aRunOutsideOfAnyJobCannotBeRead() {
		this.runner.withUserConfiguration(Billing.class)
			.run((context) -> assertThatIllegalStateException()
				.isThrownBy(target(context.getBean(Billing.class)).run::token)
				.withMessageContaining("@SingletonJob"));
	}

	@Test
	void anAnnotationOfOnesOwnMarksAJob() {
		this.runner.withUserConfiguration(Nightly.class).withPropertyValues("jobs.prefix=eu").run((context) -> {
			Nightly nightly = context.getBean(Nightly.class);
			nightly.statements();
			assertThat(target(nightly).job).isEqualTo("eu-statements");
		});
	}

	@Test
	void settingsOfAJobBeatTheAnnotationWhichBeatsTheDefaults() {
		this.runner.withUserConfiguration(Nightly.class)
			.withPropertyValues("singleton-job.lease.ttl=20s", "singleton-job.jobs.billing.ttl=30s",
					"singleton-job.jobs.[a.b].on-lost=signal")
			.run((context) -> {
				JobSettings settings = context.getBean(JobSettings.class);
				JobOptions annotation = JobOptions.defaults().withTtl(java.time.Duration.ofSeconds(40));
				assertThat(ttl(settings.settings("billing", annotation))).isEqualTo(30);
				assertThat(ttl(settings.settings("other", annotation))).isEqualTo(40);
				assertThat(ttl(settings.settings("other", JobOptions.defaults()))).isEqualTo(20);
				assertThat(settings.settings("a.b", annotation).onLost()).isEqualTo(OnLost.SIGNAL);
				assertThat(ttl(context.getBean(JobDefinitions.class)
					.of(Nightly.class.getDeclaredMethod("statements"))
					.settings())).isEqualTo(60);
			});
	}

	@Test
	void aScheduledJobRunsOnBootsOwnScheduler() {
		this.runner.withUserConfiguration(Scheduled20ms.class, SchedulingOn.class).run((context) -> {
			assertThat(context).hasSingleBean(TaskScheduler.class).hasBean("taskScheduler");
			assertThat(context).hasBean("applicationTaskExecutor");
			Scheduled20ms job = context.getBean(Scheduled20ms.class);
			org.awaitility.Awaitility.await()
				.atMost(10, TimeUnit.SECONDS)
				.untilAsserted(() -> assertThat(target(job).count.get()).isGreaterThan(3));
		});
	}

	@Test
	void theStartIsCleanOfProxyWarnings(CapturedOutput output) {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("not eligible");
		});
	}

	@Test
	void aUsersOwnStoreNeedsNoProperty() {
		this.empty.withPropertyValues("spring.application.name=shop")
			.withUserConfiguration(OwnStore.class)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LeaseStore.class));
	}

	@Test
	void jobsAreProxiedEvenWithoutBootsAop() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop",
					"spring.aop.auto=false")
			.withUserConfiguration(Billing.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(Billing.class).charge();
				assertThat(target(context.getBean(Billing.class)).runs).hasSize(1);
			});
	}

	@Test
	void itWorksWithoutJdbcAndTransactions() {
		this.runner.withUserConfiguration(Report.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.transaction",
					"org.postgresql", "org.springframework.boot.jdbc"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Report.class).lines()).contains(3);
			});
	}

	@Test
	void itWorksWithoutSpringDataRedis() {
		this.runner.withUserConfiguration(Report.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce",
					"org.springframework.boot.data.redis"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Report.class).lines()).contains(3);
			});
	}

	@Test
	void itWorksWithoutJetcd() {
		this.runner.withUserConfiguration(Report.class)
			.withClassLoader(new FilteredClassLoader("io.etcd", "io.grpc", "io.netty", "io.vertx"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Report.class).lines()).contains(3);
			});
	}

	@Test
	void optionsThatCannotWorkAreAnIllegalArgument() {
		this.runner.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			assertThatIllegalArgumentException().isThrownBy(
					() -> jobs.run("billing", JobOptions.defaults().withTtl(java.time.Duration.ofSeconds(1)), (run) -> {
					}))
				.withMessageContaining("too short");
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.run(" ", (run) -> {
			})).withMessageContaining("empty");
		});
	}

	private static <T> T target(T bean) {
		return AopTestUtils.getTargetObject(bean);
	}

	private static long ttl(RunSettings settings) {
		return settings.timing().ttl().toSeconds();
	}

	private static <T> T onAnotherThread(Supplier<T> work) {
		return CompletableFuture.supplyAsync(work).orTimeout(10, TimeUnit.SECONDS).join();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class SchedulingOn {

	}

	static class Billing {

		final List<String> runs = new ArrayList<>();

		final List<Long> tokens = new ArrayList<>();

		private final JobRun run;

		Billing(JobRun run) {
			this.run = run;
		}

		@SingletonJob("billing")
		void charge() {
			this.run.ensureHeld();
			this.tokens.add(JobRun.current().token());
			this.runs.add(this.run.job() + " " + this.run.holder() + " " + this.run.token());
		}

	}

	public static class Report {

		@SingletonJob("report")
		public Optional<Integer> lines() {
			return Optional.of(3);
		}

	}

	static class Failing {

		@SingletonJob("failing")
		public void fail() {
			throw new IllegalStateException("card network down");
		}

	}

	static class Nightly {

		@Nullable String job;

		@NightlyJob("${jobs.prefix:us}-statements")
		public void statements() {
			this.job = JobRun.current().job();
		}

	}

	@SingletonJob(value = "", ttl = "${nightly.ttl:60s}")
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface NightlyJob {

		@AliasFor(annotation = SingletonJob.class, attribute = "value")
		String value();

	}

	static class Scheduled20ms {

		final java.util.concurrent.atomic.AtomicInteger count = new java.util.concurrent.atomic.AtomicInteger();

		@Scheduled(fixedRate = 20)
		@SingletonJob("often")
		public void tick() {
			this.count.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStore {

		@Bean
		LeaseStore ownStore() {
			return new InMemoryLeaseStore(System::nanoTime);
		}

	}

}
