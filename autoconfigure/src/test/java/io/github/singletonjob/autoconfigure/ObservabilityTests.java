package io.github.singletonjob.autoconfigure;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.lease.LeasedRun;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ScheduledTasksObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static io.github.singletonjob.autoconfigure.OperatedJobs.await;
import static io.github.singletonjob.autoconfigure.OperatedJobs.fire;
import static io.github.singletonjob.autoconfigure.OperatedJobs.onAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Metrics, observations, events and the context of log lines, each on a real run.
 */
@Timeout(120)
class ObservabilityTests {

	private static final Instant ONE = Instant.parse("2026-11-29T01:00:00Z");

	private final SwitchedStore store = new SwitchedStore();

	private final ApplicationContextRunner plain = OperatedJobs.runner(this.store);

	private final ApplicationContextRunner runner = this.plain
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class,
				ScheduledTasksObservationAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withBean(Observed.class);

	@Test
	void metricsOfDeclaredJobsAreThereFromTheStart() {
		this.runner.run((context) -> {
			assertThat(attempts(context, "granted")).isZero();
			assertThat(attempts(context, "not_started")).isZero();
			assertThat(count(context, "singleton.job.lost")).isZero();
			assertThat(leases(context)).isZero();
		});
	}

	@Test
	void anAttemptThatGetsTheLeaseIsCounted() {
		this.runner.run((context) -> {
			context.getBean(OperatedJobs.Billing.class).charge();
			assertThat(attempts(context, "granted")).isEqualTo(1);
		});
	}

	@Test
	void anAttemptThatFindsTheJobHeldIsCountedAndPublished() {
		this.runner.run((context) -> {
			jobs(context).run("billing", (run) -> onAnotherThread(context.getBean(OperatedJobs.Billing.class)::charge));
			assertThat(attempts(context, "skipped_held")).isEqualTo(1);
			assertThat(events(context).of(JobRunEvent.Skipped.class))
				.containsExactly(new JobRunEvent.Skipped("billing", RunOutcome.SKIPPED_HELD));
		});
	}

	@Test
	void anAttemptForAFireTimeThatHasRunIsCountedAndPublished() {
		this.runner.run((context) -> {
			fire(context, ONE, (run) -> {
			});
			fire(context, ONE, (run) -> {
			});
			assertThat(attempts(context, "skipped_already_ran")).isEqualTo(1);
			assertThat(events(context).of(JobRunEvent.Skipped.class)).extracting(JobRunEvent.Skipped::outcome)
				.containsExactly(RunOutcome.SKIPPED_ALREADY_RAN);
		});
	}

	@Test
	void anAttemptWithoutAnAnswerIsCounted() {
		this.runner.run((context) -> {
			this.store.silent = true;
			assertThatExceptionOfType(LeaseStoreException.class)
				.isThrownBy(context.getBean(OperatedJobs.Billing.class)::charge);
			assertThat(attempts(context, "not_started")).isEqualTo(1);
		});
	}

	@Test
	void aTakeoverIsCountedAndPublishedAfterItsGrant() {
		this.runner.run((context) -> {
			RunResult cut = fire(context, ONE,
					(run) -> ((LeasedRun) run).refused(new StaleTokenException("billing", run.token(), "stale")));
			assertThat(cut.outcome()).isEqualTo(RunOutcome.LOST);
			RunResult second = fire(context, ONE, (run) -> assertThat(run.isTakeover()).isTrue());
			assertThat(count(context, "singleton.job.takeovers")).isEqualTo(1);
			assertThat(events(context).of(JobRunEvent.Granted.class)).extracting(JobRunEvent.Granted::takeover)
				.containsExactly(false, true);
			assertThat(events(context).of(JobRunEvent.Granted.class))
				.contains(new JobRunEvent.Granted("billing", second.token(), "server-1", ONE, true));
		});
	}

	@Test
	void renewalsAreTimedWithTheTimeThatWasLeft() {
		this.runner.run((context) -> {
			jobs(context).run("billing", (run) -> {
				assertThat(leases(context)).isEqualTo(1);
				await(() -> renewals(context, "extended") >= 2);
			});
			assertThat(leases(context)).isZero();
			assertThat(renewals(context, "unknown")).isZero();
			var left = registry(context).get("singleton.job.renewal.left").tag("job", "billing").timer();
			assertThat(left.count()).isGreaterThanOrEqualTo(2);
			assertThat(left.max(TimeUnit.MILLISECONDS)).isBetween(1.0, 1400.0);
		});
	}

	@Test
	void aFailedRenewalIsCounted() {
		this.runner.run((context) -> {
			jobs(context).run("billing", (run) -> {
				this.store.silent = true;
				await(() -> renewals(context, "unknown") >= 1);
				this.store.silent = false;
				await(() -> renewals(context, "extended") >= 1);
			});
			assertThat(count(context, "singleton.job.lost")).isZero();
		});
	}

	@Test
	void aLostLeaseIsCountedAndPublished() {
		this.runner.run((context) -> {
			RunResult result = jobs(context).run("billing", (run) -> {
				assertThat(this.store.memory.lose("billing")).isTrue();
				await(() -> !run.isHeld());
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			await(() -> count(context, "singleton.job.lost") == 1);
			await(() -> renewals(context, "gone") == 1);
			await(() -> !events(context).of(JobRunEvent.Lost.class).isEmpty());
			assertThat(events(context).of(JobRunEvent.Lost.class)).singleElement().satisfies((event) -> {
				assertThat(event.token()).isEqualTo(result.token());
				assertThat(event.reason()).contains("gone");
			});
			assertThat(events(context).of(JobRunEvent.Completed.class)).isEmpty();
			assertThat(runs(context, "LOST")).isEqualTo(1);
		});
	}

	@Test
	void refusedWritesOfAStaleRunAreCounted() {
		this.runner.run((context) -> {
			jobs(context).run("billing", (run) -> {
				StaleTokenException refusal = new StaleTokenException("billing", run.token(), "stale");
				((LeasedRun) run).refused(refusal);
				((LeasedRun) run).refused(refusal);
			});
			assertThat(count(context, "singleton.job.stale.writes")).isEqualTo(2);
			await(() -> count(context, "singleton.job.lost") == 1);
		});
	}

	@Test
	void aCompletedRunIsPublishedAndObserved() {
		this.runner.run((context) -> {
			RunResult result = fire(context, ONE, (run) -> {
			});
			assertThat(events(context).of(JobRunEvent.Completed.class))
				.containsExactly(new JobRunEvent.Completed("billing", result.token(), "server-1", ONE));
			Observation.Context observed = context.getBean(Observed.class).only();
			assertThat(observed.getContextualName()).isEqualTo("singleton-job billing");
			assertThat(keys(observed.getLowCardinalityKeyValues()))
				.isEqualTo(Map.of("job", "billing", "store", "custom", "outcome", "COMPLETED"));
			assertThat(keys(observed.getHighCardinalityKeyValues())).isEqualTo(
					Map.of("name", "billing", "token", Long.toString(result.token()), "fire.time", ONE.toString()));
			assertThat(runs(context, "COMPLETED")).isEqualTo(1);
		});
	}

	@Test
	void aFailedRunIsPublishedAndObservedWithItsError() {
		this.runner.run((context) -> {
			RunResult result = jobs(context).run("billing", (run) -> {
				throw new IllegalStateException("card network down");
			});
			assertThat(events(context).of(JobRunEvent.Failed.class)).singleElement().satisfies((event) -> {
				assertThat(event.token()).isEqualTo(result.token());
				assertThat(event.fireTime()).isNull();
				assertThat(event.failure()).hasMessage("card network down");
			});
			assertThat(context.getBean(Observed.class).only().getError()).hasMessage("card network down");
			assertThat(runs(context, "FAILED")).isEqualTo(1);
		});
	}

	@Test
	void anObservationOfAScheduledRunNestsUnderThatOfItsTask() {
		this.runner.withUserConfiguration(EachTenMillis.class).run((context) -> {
			Observed observed = context.getBean(Observed.class);
			await(() -> !observed.stopped.isEmpty());
			var parent = observed.stopped.get(0).getParentObservation();
			assertThat(parent).isNotNull();
			assertThat(parent.getContextView().getName()).isEqualTo("tasks.scheduled.execution");
		});
	}

	@Test
	void theObservationIsTheCurrentOneOfTheBodyOnly() {
		this.runner.run((context) -> {
			var observations = context.getBean(io.micrometer.observation.ObservationRegistry.class);
			jobs(context).run("billing", (run) -> assertThat(observations.getCurrentObservation()).isNotNull());
			assertThat(observations.getCurrentObservation()).isNull();
		});
	}

	@Test
	void theObservationOfAStageEndsWithTheStage() {
		this.runner.withBean(Report.class).run((context) -> {
			Report report = context.getBean(Report.class);
			CompletableFuture<String> result = report.write();
			assertThat(context.getBean(Observed.class).stopped).isEmpty();
			report.work().complete("done");
			assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
			await(() -> !context.getBean(Observed.class).stopped.isEmpty());
			assertThat(runsOf(context, "report", "COMPLETED")).isEqualTo(1);
		});
	}

	@Test
	void namesThatCodeMakesUpAreBounded() {
		this.runner.run((context) -> {
			for (int i = 0; i < 150; i++) {
				jobs(context).run("import-" + i, (run) -> {
				});
			}
			assertThat(registry(context).find("singleton.job.attempts").tag("result", "granted").counters().size())
				.isEqualTo(102);
			assertThat(registry(context).get("singleton.job.attempts")
				.tag("job", "other")
				.tag("result", "granted")
				.counter()
				.count()).isEqualTo(50);
		});
	}

	@Test
	void logLinesOfABodyHaveItsJobAndToken() {
		this.plain.run((context) -> {
			List<String> lines = new ArrayList<>();
			jobs(context).run("outer", (outer) -> {
				jobs(context).run("inner", (run) -> lines.add(inLog(run.token())));
				lines.add(inLog(outer.token()));
			});
			assertThat(lines).containsExactly("inner true", "outer true");
			assertThat(MDC.get(JobLogContext.JOB)).isNull();
			assertThat(MDC.get(JobLogContext.TOKEN)).isNull();
		});
	}

	@Test
	void jobsRunTheSameWithoutMicrometerActuatorAndSlf4jContext() {
		this.plain
			.withClassLoader(new FilteredClassLoader(
					(name) -> name.startsWith("io.micrometer.") || name.startsWith("org.springframework.boot.actuate.")
							|| name.startsWith("org.springframework.boot.health.") || name.equals("org.slf4j.MDC")))
			.run((context) -> {
				assertThat(context).hasNotFailed()
					.doesNotHaveBean("singletonJobMetrics")
					.doesNotHaveBean("singletonJobObservations")
					.doesNotHaveBean("singletonJobLogContext")
					.doesNotHaveBean("singletonJobsEndpoint")
					.doesNotHaveBean("singletonJobsHealthIndicator");
				assertThat(fire(context, ONE, (run) -> {
				}).outcome()).isEqualTo(RunOutcome.COMPLETED);
				assertThat(fire(context, ONE, (run) -> {
				}).outcome()).isEqualTo(RunOutcome.SKIPPED_ALREADY_RAN);
			});
	}

	@Test
	void withoutAMeterRegistryThereAreNoMetrics() {
		this.plain.run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(JobMetrics.class).doesNotHaveBean(RunObservations.class);
			assertThat(context).hasSingleBean(JobLogContext.class);
		});
	}

	private static String inLog(long token) {
		return MDC.get(JobLogContext.JOB) + " " + MDC.get(JobLogContext.TOKEN).equals(Long.toString(token));
	}

	private static Map<String, String> keys(Iterable<io.micrometer.common.KeyValue> keyValues) {
		Map<String, String> keys = new java.util.HashMap<>();
		keyValues.forEach((keyValue) -> keys.put(keyValue.getKey(), keyValue.getValue()));
		return keys;
	}

	private static SingletonJobs jobs(ApplicationContext context) {
		return context.getBean(SingletonJobs.class);
	}

	private static OperatedJobs.Events events(ApplicationContext context) {
		return context.getBean(OperatedJobs.Events.class);
	}

	private static MeterRegistry registry(ApplicationContext context) {
		return context.getBean(MeterRegistry.class);
	}

	private static double attempts(ApplicationContext context, String result) {
		return registry(context).get("singleton.job.attempts")
			.tag("job", "billing")
			.tag("result", result)
			.counter()
			.count();
	}

	private static double count(ApplicationContext context, String name) {
		return registry(context).get(name).tag("job", "billing").counter().count();
	}

	private static long renewals(ApplicationContext context, String answer) {
		return registry(context).get("singleton.job.renewals")
			.tag("job", "billing")
			.tag("answer", answer)
			.timer()
			.count();
	}

	private static double leases(ApplicationContext context) {
		return registry(context).get("singleton.job.leases").tag("job", "billing").gauge().value();
	}

	private static long runs(ApplicationContext context, String outcome) {
		return runsOf(context, "billing", outcome);
	}

	private static long runsOf(ApplicationContext context, String job, String outcome) {
		return registry(context).get("singleton.job").tag("job", job).tag("outcome", outcome).timer().count();
	}

	static class Observed implements ObservationHandler<Observation.Context> {

		final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();

		@Override
		public void onStop(Observation.Context context) {
			this.stopped.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return "singleton.job".equals(context.getName());
		}

		Observation.Context only() {
			assertThat(this.stopped).hasSize(1);
			return this.stopped.get(0);
		}

	}

	static class Report {

		private final CompletableFuture<String> work = new CompletableFuture<>();

		@SingletonJob("report")
		CompletableFuture<String> write() {
			return this.work;
		}

		CompletableFuture<String> work() {
			return this.work;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class EachTenMillis {

		@Scheduled(fixedDelay = 10)
		@SingletonJob("poll")
		void poll() {
		}

	}

}
