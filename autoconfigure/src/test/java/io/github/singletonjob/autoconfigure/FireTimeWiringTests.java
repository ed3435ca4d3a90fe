package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.lease.Acquisition;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.lease.LeaseRequest;
import io.github.singletonjob.memory.InMemoryLeaseStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * From Spring's scheduler to the fire time of a run, and back to who finishes it.
 */
class FireTimeWiringTests {

	private static final JobId BILLING = new JobId("shop", "billing");

	private final Instant one = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(30, ChronoUnit.HOURS);

	private final InMemoryLeaseStore store = new InMemoryLeaseStore();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class))
		.withBean("taskScheduler", ThreadPoolTaskScheduler.class)
		.withBean("leases", InMemoryLeaseStore.class, () -> this.store)
		.withPropertyValues("singleton-job.namespace=shop");

	@Test
	void aRunThatTheSchedulerStartsHasTheFireTimeOfItsExpression() {
		this.runner.withUserConfiguration(EachSecond.class).run((context) -> {
			List<Instant> fireTimes = context.getBean(EachSecond.class).fireTimes();
			Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> fireTimes.size() >= 3);
			assertThat(fireTimes).allMatch((time) -> time.equals(time.truncatedTo(ChronoUnit.SECONDS)))
				.doesNotHaveDuplicates()
				.isSorted();
		});
	}

	@Test
	void aDirectCallIsAnExtraRun() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			context.getBean(Billing.class).charge();
			assertThat(runs(context)).containsExactly("none");
			assertThat(this.store.inspect(BILLING, Duration.ofSeconds(1)).fireTimes()).isEmpty();
		});
	}

	@Test
	void aJobThatAnotherScheduledMethodCallsIsAnExtraRun() {
		this.runner.withUserConfiguration(Billing.class, Caller.class).run((context) -> {
			Caller caller = context.getBean(Caller.class);
			fire(context, caller, "call", this.one);
			assertThat(runs(context)).containsExactly("none");
		});
	}

	@Test
	void aFixedRateHasNoFireTime() {
		this.runner.withUserConfiguration(FixedRate.class).run((context) -> {
			fire(context, context.getBean(FixedRate.class), "poll", this.one);
			assertThat(context.getBean(FixedRate.class).fireTimes()).containsExactly(Optional.empty());
		});
	}

	@Test
	void instancesWhoseClocksDifferRunEachFireTimeOnce() {
		this.runner.withUserConfiguration(Billing.class)
			.run((fast) -> this.runner.withUserConfiguration(Billing.class).run((slow) -> {
				for (int hour = 0; hour < 30; hour++) {
					Instant fires = this.one.plus(hour, ChronoUnit.HOURS);
					fire(fast, fires.plusMillis(5));
					fire(slow, fires.plusMillis(5));
					fire(fast, fires.plusSeconds(180));
				}
				assertThat(runs(fast)).hasSize(30).doesNotHaveDuplicates();
				assertThat(runs(slow)).isEmpty();
			}));
	}

	@Test
	void aFiringFinishesAnEarlierFireTimeThatIsOpenAndThenItsOwn() {
		leaveOpen(this.one);
		this.runner.withPropertyValues("singleton-job.jobs.billing.takeover=automatic")
			.withUserConfiguration(Billing.class)
			.run((context) -> {
				awaitRuns(context, 1);
				leaveOpen(this.one.plus(1, ChronoUnit.HOURS));
				fire(context, this.one.plus(2, ChronoUnit.HOURS));
				assertThat(runs(context)).containsExactly(this.one + " takeover",
						this.one.plus(1, ChronoUnit.HOURS) + " takeover",
						this.one.plus(2, ChronoUnit.HOURS).toString());
			});
	}

	@Test
	void whatAnotherInstanceHasLeftOpenIsFinishedAtStartThroughTheProxy() {
		leaveOpen(this.one);
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			awaitRuns(context, 1);
			assertThat(runs(context)).containsExactly(this.one + " takeover");
			assertThat(context.getBean(Billing.class).events())
				.satisfiesExactly((event) -> assertThat(event.takeover()).isTrue());
		});
	}

	@Test
	void withTakeoverNeverItStaysUndone() {
		leaveOpen(this.one);
		this.runner.withUserConfiguration(Billing.class)
			.withPropertyValues("singleton-job.jobs.billing.takeover=never")
			.run((context) -> {
				fire(context, this.one);
				assertThat(runs(context)).isEmpty();
				fire(context, this.one.plus(1, ChronoUnit.HOURS));
				assertThat(runs(context)).containsExactly(this.one.plus(1, ChronoUnit.HOURS).toString());
			});
	}

	@Test
	void aSkippedFiringIsStoodByForAndTakenOver() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			LeaseGrant other = acquire(new Firing("", this.one, true));
			fire(context, this.one);
			assertThat(runs(context)).isEmpty();
			this.store.release(other, null);
			awaitRuns(context, 1);
			assertThat(runs(context)).containsExactly(this.one + " takeover");
		});
	}

	@Test
	void aFireTimeFarAheadOfTheClockIsRefusedLoudly() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			Instant ahead = Instant.now().truncatedTo(ChronoUnit.HOURS).plus(2, ChronoUnit.HOURS);
			assertThatIllegalStateException().isThrownBy(() -> fire(context, ahead))
				.withMessageContaining("correct the clock");
			assertThat(runs(context)).isEmpty();
			fire(context, this.one);
			assertThat(runs(context)).hasSize(1);
		});
	}

	@Test
	void aFailedRunCanBeRepeatedByHandTheSameDay() {
		this.runner.withUserConfiguration(Billing.class).run((context) -> {
			fire(context, this.one);
			context.getBean(Billing.class).charge();
			assertThat(runs(context)).containsExactly(this.one.toString(), "none");
		});
	}

	@Test
	void severalSchedulesOfOneMethodDoNotHideEachOther() {
		this.runner.withUserConfiguration(TwoSchedules.class).run((context) -> {
			List<String> runs = context.getBean(TwoSchedules.class).runs();
			Instant midnight = this.one.truncatedTo(ChronoUnit.DAYS);
			fire(context, context.getBean(TwoSchedules.class), "charge", midnight.plus(62, ChronoUnit.MINUTES));
			fire(context, context.getBean(TwoSchedules.class), "charge", midnight.plus(60, ChronoUnit.MINUTES));
			fire(context, context.getBean(TwoSchedules.class), "charge", midnight.plus(60, ChronoUnit.MINUTES));
			assertThat(runs).containsExactly(midnight.plus(62, ChronoUnit.MINUTES).toString(),
					midnight.plus(60, ChronoUnit.MINUTES).toString());
		});
	}

	@Test
	void theSchedulersOnlyThreadStaysFreeWhileAJobIsStoodByFor() {
		LeaseGrant other = acquire(new Firing("", this.one, true));
		this.runner.withUserConfiguration(Billing.class, EachSecond.class).run((context) -> {
			// On its only thread, so that no tick meets the clock of the firing
			context.getBean(ThreadPoolTaskScheduler.class)
				.submit(() -> fire(context, this.one))
				.get(10, TimeUnit.SECONDS);
			assertThat(runs(context)).isEmpty();
			List<Instant> fireTimes = context.getBean(EachSecond.class).fireTimes();
			int before = fireTimes.size();
			int seconds = Integer.getInteger("tests.stand-by-seconds", 3);
			Awaitility.await().atMost(seconds + 7, TimeUnit.SECONDS).until(() -> fireTimes.size() >= before + seconds);
			assertThat(fireTimes).doesNotHaveDuplicates();
			assertThat(this.store.release(other, this.one)).isTrue();
		});
	}

	@Test
	void aJobThatReturnsAStageIsHeldUntilItIsCompleted() {
		this.runner.withUserConfiguration(Stages.class).run((context) -> {
			Stages stages = context.getBean(Stages.class);
			CompletableFuture<String> first = stages.report();
			CompletionStage<String> skipped = stages.report();
			assertThat(skipped).isCompletedWithValue(null);
			assertThat(first).isNotCompleted();
			stages.work().complete("done");
			assertThat(first).succeedsWithin(Duration.ofSeconds(5)).isEqualTo("done");
			stages.report().cancel(true);
			assertThat(stages.calls()).isEqualTo(2);
		});
	}

	@Test
	void theStageOfALostRunIsCancelled() {
		this.runner.withPropertyValues("singleton-job.lease.ttl=2s")
			.withUserConfiguration(Stages.class)
			.run((context) -> {
				Stages stages = context.getBean(Stages.class);
				CompletableFuture<String> report = stages.report();
				assertThat(this.store.lose("report")).isTrue();
				Awaitility.await().atMost(5, TimeUnit.SECONDS).until(() -> stages.work().isCancelled());
				assertThat(report).failsWithin(Duration.ofSeconds(5))
					.withThrowableThat()
					.withMessageContaining("LeaseLostException");
			});
	}

	@Test
	void aContinuousJobRunsOnOneInstanceAndMovesWhenThatStops() {
		AtomicInteger running = new AtomicInteger();
		ApplicationContextRunner instances = this.runner.withBean(AtomicInteger.class, () -> running)
			.withUserConfiguration(Continuous.class);
		instances.run((first) -> {
			Continuous there = first.getBean(Continuous.class);
			Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> there.starts() == 1 && running.get() == 1);
			instances.run((second) -> {
				Continuous here = second.getBean(Continuous.class);
				Awaitility.await()
					.atMost(20, TimeUnit.SECONDS)
					.during(2, TimeUnit.SECONDS)
					.until(() -> here.starts() == 0 && running.get() == 1);
				first.getSourceApplicationContext().close();
				Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> here.starts() == 1 && running.get() == 1);
				assertThat(there.starts()).isEqualTo(1);
			});
		});
		assertThat(running).hasValue(0);
	}

	@Test
	void aContinuousJobWithAScheduleIsRefused() {
		this.runner.withUserConfiguration(ContinuousWithSchedule.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("continuous and has a schedule"));
	}

	@Test
	void minHoldKeepsTheJobAfterItsBody() {
		this.runner.withUserConfiguration(Billing.class)
			.withPropertyValues("singleton-job.jobs.billing.min-hold=3s")
			.run((context) -> {
				long start = System.nanoTime();
				fire(context, this.one);
				assertThat(context.getBean(SingletonJobs.class).run("billing", (run) -> {
				}).outcome()).isEqualTo(RunOutcome.SKIPPED_HELD);
				assertThat(this.store.inspect(BILLING, Duration.ofSeconds(1)).fireTimes().get("").completed())
					.isEqualTo(this.one);
				Awaitility.await()
					.atMost(20, TimeUnit.SECONDS)
					.until(() -> !this.store.inspect(BILLING, Duration.ofSeconds(1)).held());
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(3));
			});
	}

	private static List<String> runs(ApplicationContext context) {
		return context.getBean(Billing.class).runs();
	}

	private static void awaitRuns(ApplicationContext context, int count) {
		Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> runs(context).size() >= count);
	}

	private static void fire(ApplicationContext context, Instant now) {
		fire(context, context.getBean(Billing.class), "charge", now);
	}

	/** Calls as the scheduler does whose clock shows this time. */
	private static void fire(ApplicationContext context, Object bean, String method, Instant now) {
		ThreadPoolTaskScheduler scheduler = context.getBean(ThreadPoolTaskScheduler.class);
		Clock before = scheduler.getClock();
		scheduler.setClock(Clock.fixed(now, ZoneOffset.UTC));
		try {
			new ScheduledMethodRunnable(bean, AopUtils
				.selectInvocableMethod(AopUtils.getTargetClass(bean).getDeclaredMethod(method), bean.getClass())).run();
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalArgumentException(ex);
		}
		finally {
			scheduler.setClock(before);
		}
	}

	private LeaseGrant acquire(@Nullable Firing firing) {
		LeaseRequest request = new LeaseRequest(BILLING, java.util.UUID.randomUUID().toString(), "another",
				Duration.ofSeconds(90), Duration.ofSeconds(1), 0, firing);
		return ((Acquisition.Acquired) this.store.tryAcquire(request)).grant();
	}

	private void leaveOpen(Instant fireTime) {
		this.store.release(acquire(new Firing("", fireTime, true)), null);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class EachSecond {

		private final List<Instant> fireTimes = new CopyOnWriteArrayList<>();

		@Scheduled(cron = "* * * * * *")
		@SingletonJob("each-second")
		public void tick() {
			this.fireTimes.add(JobRun.current().fireTime().orElseThrow());
		}

		public List<Instant> fireTimes() {
			return this.fireTimes;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Billing {

		private final List<String> runs = new CopyOnWriteArrayList<>();

		private final List<JobRunEvent.Granted> events = new CopyOnWriteArrayList<>();

		@Scheduled(cron = "0 0 * * * *", zone = "Europe/Berlin")
		@SingletonJob("billing")
		public void charge() {
			JobRun run = JobRun.current();
			this.runs.add(run.fireTime().map(Instant::toString).orElse("none") + (run.isTakeover() ? " takeover" : ""));
		}

		@EventListener
		public void on(JobRunEvent.Granted event) {
			this.events.add(event);
		}

		public List<String> runs() {
			return this.runs;
		}

		public List<JobRunEvent.Granted> events() {
			return this.events;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Caller {

		private final Billing billing;

		Caller(Billing billing) {
			this.billing = billing;
		}

		public void call() {
			this.billing.charge();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FixedRate {

		private final List<Optional<Instant>> fireTimes = new CopyOnWriteArrayList<>();

		@Scheduled(fixedRate = 1000)
		@SingletonJob("poll")
		public void poll() {
			this.fireTimes.add(JobRun.current().fireTime());
		}

		public List<Optional<Instant>> fireTimes() {
			return this.fireTimes;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoSchedules {

		private final List<String> runs = new CopyOnWriteArrayList<>();

		@Scheduled(cron = "0 0 1 * * *", zone = "UTC")
		@Scheduled(cron = "0 2 1 * * *", zone = "UTC")
		@SingletonJob("billing")
		public void charge() {
			this.runs.add(JobRun.current().fireTime().orElseThrow().toString());
		}

		public List<String> runs() {
			return this.runs;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Stages {

		private final AtomicInteger calls = new AtomicInteger();

		private volatile CompletableFuture<String> work = new CompletableFuture<>();

		@SingletonJob("report")
		public CompletableFuture<String> report() {
			this.calls.incrementAndGet();
			this.work = new CompletableFuture<>();
			return this.work;
		}

		public CompletableFuture<String> work() {
			return this.work;
		}

		public int calls() {
			return this.calls.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Continuous {

		private final AtomicInteger running;

		private final AtomicInteger starts = new AtomicInteger();

		Continuous(AtomicInteger running) {
			this.running = running;
		}

		@SingletonJob(value = "live-count", continuous = true)
		public void count() throws InterruptedException {
			this.starts.incrementAndGet();
			this.running.incrementAndGet();
			try {
				new CountDownLatch(1).await();
			}
			finally {
				this.running.decrementAndGet();
			}
		}

		public int starts() {
			return this.starts.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ContinuousWithSchedule {

		@Scheduled(fixedRate = 1000)
		@SingletonJob(value = "live-count", continuous = true)
		public void count() {
		}

	}

}
