package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.JobStatus.State;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.Takeover;
import io.github.singletonjob.lease.JobId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static io.github.singletonjob.autoconfigure.OperatedJobs.await;
import static io.github.singletonjob.autoconfigure.OperatedJobs.fire;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What an operator sees of jobs and does to them: the endpoint, health and
 * {@code SingletonJobs}.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class OperatorTests {

	private static final Instant ONE = Instant.parse("2026-11-29T01:00:00Z");

	private final SwitchedStore store = new SwitchedStore();

	private final ApplicationContextRunner runner = OperatedJobs.runner(this.store);

	@Test
	void aJobThatHasNotRunIsFreeAndHasItsSettingsAndItsNextFireTime() {
		this.runner.withPropertyValues("singleton-job.jobs.import.ttl=30s").run((context) -> {
			SingletonJobsEndpoint.Jobs all = endpoint(context).jobs();
			assertThat(all.namespace()).isEqualTo("shop");
			assertThat(all.store()).isEqualTo("custom");
			assertThat(all.instance()).isEqualTo("server-1");
			assertThat(all.jobs()).extracting(SingletonJobsEndpoint.Job::job).containsExactly("billing", "import");
			SingletonJobsEndpoint.Job billing = all.jobs().get(0);
			assertThat(billing.method()).endsWith("OperatedJobs$Billing.charge()");
			assertThat(billing.settings().ttl()).isEqualTo(Duration.ofSeconds(2));
			assertThat(billing.settings().maxRun()).isEqualTo(Duration.ofHours(2));
			assertThat(billing.settings().takeover()).isEqualTo(Takeover.AUTOMATIC);
			assertThat(billing.lease()).isEqualTo(new JobStatus.Lease(State.FREE, null, 0, null, null));
			assertThat(billing.lastRun()).isNull();
			assertThat(billing.schedules()).singleElement().satisfies((schedule) -> {
				assertThat(schedule.started()).isNull();
				assertThat(schedule.completed()).isNull();
				assertThat(schedule.next()).isAfter(Instant.now()).asString().endsWith("T01:00:00Z");
			});
			SingletonJobsEndpoint.Job imports = all.jobs().get(1);
			assertThat(imports.method()).isNull();
			assertThat(imports.settings().ttl()).isEqualTo(Duration.ofSeconds(30));
		});
	}

	@Test
	void aJobThatRunsHereShowsItsHolderTokenAndTimes() {
		this.runner.run((context) -> completes(context, (run) -> {
			SingletonJobsEndpoint.Job billing = endpoint(context).job("billing");
			assertThat(billing.lease().state()).isEqualTo(State.HELD);
			assertThat(billing.lease().holder()).isEqualTo("server-1");
			assertThat(billing.lease().token()).isEqualTo(run.token());
			assertThat(billing.lease().expiresIn()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(2));
			assertThat(billing.lease().deadlineIn()).isBetween(Duration.ofMillis(1), Duration.ofMillis(1400));
			assertThat(billing.schedules().get(0).started()).isEqualTo(ONE);
			assertThat(billing.schedules().get(0).completed()).isNull();
		}));
	}

	@Test
	void anEndedRunShowsItsOutcomeWithTimesAndTheClassOfItsErrorAndNoMessage() {
		this.runner.run((context) -> {
			RunResult result = fire(context, ONE, (run) -> {
				throw new IllegalStateException("password=secret");
			});
			SingletonJobsEndpoint.Job billing = endpoint(context).job("billing");
			assertThat(billing.lease().state()).isEqualTo(State.FREE);
			assertThat(billing.schedules().get(0).completed()).isEqualTo(ONE);
			JobStatus.LastRun last = billing.lastRun();
			assertThat(last.outcome()).isEqualTo(RunOutcome.FAILED);
			assertThat(last.token()).isEqualTo(result.token());
			assertThat(last.fireTime()).isEqualTo(ONE);
			assertThat(last.began()).isBeforeOrEqualTo(last.ended());
			assertThat(last.error()).isEqualTo("java.lang.IllegalStateException");
			assertThat(billing.toString()).doesNotContain("secret");
		});
	}

	@Test
	void aLostRunShowsThatItWasLost() {
		this.runner.run((context) -> {
			loseARun(context);
			assertThat(endpoint(context).job("billing").lastRun().outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(endpoint(context).job("billing").lastRun().error())
				.isEqualTo(LeaseLostException.class.getName());
		});
	}

	@Test
	void withoutAnAnswerTheStateIsUnknownAndTheRestIsNotAskedFor() {
		this.runner.withPropertyValues("singleton-job.jobs.import.ttl=30s").run((context) -> {
			this.store.silent = true;
			int before = this.store.looks.get();
			assertThat(endpoint(context).jobs().jobs())
				.allSatisfy((job) -> assertThat(job.lease().state()).isEqualTo(State.UNKNOWN));
			assertThat(this.store.looks.get() - before).isEqualTo(1);
		});
	}

	@Test
	void aNameThatDependsOnTheCallStandsForTheJobsThatHaveRunHere() {
		this.runner.withBean(Tenants.class)
			.withPropertyValues("singleton-job.jobs.[import-#{#tenant}].ttl=42s")
			.run((context) -> {
				assertThat(endpoint(context).jobs().jobs()).extracting(SingletonJobsEndpoint.Job::job)
					.containsExactly("billing");
				context.getBean(Tenants.class).load("north");
				SingletonJobsEndpoint.Job north = endpoint(context).job("import-north");
				assertThat(north.method()).endsWith("Tenants.load()");
				assertThat(north.settings().ttl()).isEqualTo(Duration.ofSeconds(42));
			});
	}

	@Test
	void aJobThatIsNotThereIsNotFound() {
		this.runner.run((context) -> {
			assertThat(endpoint(context).job("other")).isNull();
			assertThat(endpoint(context).release(1, "other").getStatus()).isEqualTo(404);
		});
	}

	@Test
	void anOperatorReleasesALeaseAndItsRunIsLost(CapturedOutput output) {
		this.runner.withPropertyValues("singleton-job.jobs.billing.takeover=never").run((context) -> {
			RunResult result = fire(context, ONE, (run) -> {
				assertThat(endpoint(context).release(run.token() - 1, "billing").getBody().released()).isFalse();
				assertThat(run.isHeld()).isTrue();
				assertThat(endpoint(context).release(run.token(), "billing").getBody().released()).isTrue();
				await(() -> !run.isHeld());
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			JobId billing = context.getBean(JobSettings.class).id("billing");
			assertThat(this.store.memory.inspect(billing, Duration.ofSeconds(1)).fireTimes().get("").open())
				.contains(ONE);
			assertThat(output).contains("billing: an operator wanted its lease with token " + result.token());
		});
	}

	@Test
	void codeSeesTheSameAsTheEndpoint() {
		this.runner.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			RunResult result = jobs.run("billing", (run) -> {
				assertThat(jobs.jobs()).singleElement()
					.satisfies((job) -> assertThat(job.lease().state()).isEqualTo(State.HELD));
				assertThat(jobs.release("billing", run.token())).isTrue();
				await(() -> !run.isHeld());
			});
			assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
			assertThat(jobs.release("billing", result.token())).isFalse();
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.release(" ", 1));
		});
	}

	@Test
	void whatMustBeHeldIsHeldInsideTheRunOnly() {
		this.runner.run((context) -> {
			SingletonJobs jobs = context.getBean(SingletonJobs.class);
			assertThatIllegalStateException().isThrownBy(() -> jobs.assertHeld("billing"))
				.withMessageContaining("billing")
				.withMessageContaining("past the proxy");
			RunResult held = jobs.run("billing", (run) -> {
				jobs.assertHeld("billing");
				assertThatIllegalStateException().isThrownBy(() -> jobs.assertHeld("other"));
				assertThat(jobs.run("other", (inner) -> jobs.assertHeld("billing")).outcome())
					.isEqualTo(RunOutcome.COMPLETED);
			});
			assertThat(held.failure()).isNull();
			RunResult lost = jobs.run("billing", (run) -> {
				jobs.release("billing", run.token());
				await(() -> !run.isHeld());
				assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> jobs.assertHeld("billing"));
			});
			assertThat(lost.outcome()).isEqualTo(RunOutcome.LOST);
		});
	}

	@Test
	void healthIsUpWhileTheStoreAnswersAndAsksItOnce() {
		this.runner.run((context) -> {
			int before = this.store.looks.get();
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsEntry("store", "custom").containsEntry("leases", 0);
			assertThat(this.store.looks.get() - before).isEqualTo(1);
		});
	}

	@Test
	void healthIsDownWhileTheStoreDoesNotAnswerAndAsksItOnce() {
		this.runner.run((context) -> {
			this.store.silent = true;
			int before = this.store.looks.get();
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("error")).asString().contains("the store is switched off");
			assertThat(this.store.looks.get() - before).isEqualTo(1);
			this.store.silent = false;
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void healthIsUpWhileALeaseIsHeldAndRenewed() {
		this.runner.run((context) -> completes(context, (run) -> {
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsEntry("leases", 1).doesNotContainKey("notRenewed");
		}));
	}

	@Test
	void healthIsDownWhileThisInstanceHoldsALeaseThatItCannotRenew() {
		this.runner.withPropertyValues("singleton-job.lease.ttl=6s").run((context) -> completes(context, (run) -> {
			this.store.renewalsFail = true;
			await(() -> health(context).getStatus().equals(Status.DOWN));
			assertThat(run.isHeld()).isTrue();
			assertThat(health(context).getDetails().get("notRenewed")).asString()
				.contains("billing")
				.contains("can be relied on for another");
			this.store.renewalsFail = false;
			await(() -> health(context).getStatus().equals(Status.UP));
		}));
	}

	@Test
	void healthIsUpAgainAfterALoss() {
		this.runner.run((context) -> {
			loseARun(context);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThat(health(context).getDetails()).containsEntry("leases", 0);
		});
	}

	@Test
	void healthCanBeSwitchedOff() {
		this.runner.withPropertyValues("management.health.singletonjobs.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(SingletonJobsHealthIndicator.class));
	}

	@Test
	void anApplicationThatExcludesTheMainConfigurationStarts() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobObservabilityAutoConfiguration.class,
					SingletonJobsEndpointAutoConfiguration.class, SingletonJobsHealthAutoConfiguration.class))
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=*")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(SingletonJobsEndpoint.class));
	}

	@Test
	void anEndpointThatIsNotExposedIsNotThere() {
		this.runner.withPropertyValues("management.endpoints.jmx.exposure.include=health")
			.run((context) -> assertThat(context).doesNotHaveBean(SingletonJobsEndpoint.class));
	}

	private void loseARun(ApplicationContext context) {
		RunResult result = fire(context, ONE, (run) -> {
			this.store.memory.lose("billing");
			await(() -> !run.isHeld());
		});
		assertThat(result.outcome()).isEqualTo(RunOutcome.LOST);
	}

	private static void completes(ApplicationContext context, JobBody body) {
		RunResult result = fire(context, ONE, body);
		assertThat(result.failure()).isNull();
		assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
	}

	private static SingletonJobsEndpoint endpoint(ApplicationContext context) {
		return context.getBean(SingletonJobsEndpoint.class);
	}

	private static Health health(ApplicationContext context) {
		return context.getBean(SingletonJobsHealthIndicator.class).health();
	}

	public static class Tenants {

		@SingletonJob("import-#{#tenant}")
		public void load(String tenant) {
		}

	}

}
