package io.github.singletonjob.autoconfigure;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Each job that Spring's scheduler calls is guarded and has its fire time, or a message
 * says why not.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class ScheduledJobsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.namespace=shop", "singleton-job.store=in-memory");

	@Test
	void aJobInACircularReferenceFailsTheStart() {
		this.runner.withAllowCircularReferences(true)
			.withUserConfiguration(Circle.class, Scheduling.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Circle.charge() of bean")
				.hasMessageContaining("without its proxy"));
	}

	@Test
	void aJobInACircularReferenceThatNothingSchedulesIsGuarded() {
		this.runner.withAllowCircularReferences(true)
			.withUserConfiguration(CircleWithoutSchedule.class)
			.run((context) -> {
				context.getBean(CircleWithoutSchedule.class).charge();
				assertThat(context.getBean(CircleWithoutSchedule.class).jobs()).containsExactly("billing");
			});
	}

	@Test
	void aJobInAChildContextWithoutSingletonJobsFailsItsStart() {
		this.runner.run((parent) -> {
			AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
			child.setParent(parent);
			child.register(Scheduling.class, EachSecond.class);
			assertThatThrownBy(child::refresh).hasMessageContaining("in the child context")
				.hasMessageContaining("would run unguarded");
			assertThat(child.isActive()).isFalse();
		});
	}

	@Test
	void aJobInAChildContextThatHasSingletonJobsIsGuarded() {
		this.runner.run((parent) -> this.runner.withParent(parent)
			.withUserConfiguration(Scheduling.class, EachSecond.class)
			.run((child) -> {
				assertThat(child).hasNotFailed();
				Awaitility.await()
					.atMost(10, TimeUnit.SECONDS)
					.until(() -> !child.getBean(EachSecond.class).fireTimes().isEmpty());
			}));
	}

	@Test
	void aCronTaskOfCodeIsReportedOnceWithTheWayOut(CapturedOutput output) {
		this.runner.withUserConfiguration(Scheduling.class, CodeWithCron.class).run((context) -> {
			CodeWithCron job = context.getBean(CodeWithCron.class);
			Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> job.fireTimes().size() >= 2);
			assertThat(output.getOut().split("called by a cron task that code has registered", -1)).hasSize(2);
		});
	}

	@Test
	void aDirectCallIsNotReported(CapturedOutput output) {
		this.runner.withUserConfiguration(CodeWithCron.class).run((context) -> {
			context.getBean(CodeWithCron.class).charge();
			assertThat(output).doesNotContain("called by a cron task");
		});
	}

	@Test
	void theClockIsThatOfTheNamedScheduler() {
		this.runner.withUserConfiguration(TwoSchedulers.class).run((context) -> {
			OnTheSecond job = context.getBean(OnTheSecond.class);
			Instant one = Instant.parse("2026-11-29T01:00:00Z");
			context.getBean("one", ThreadPoolTaskScheduler.class)
				.setClock(Clock.fixed(Instant.parse("2026-11-29T02:00:00Z"), ZoneOffset.UTC));
			context.getBean("two", ThreadPoolTaskScheduler.class).setClock(Clock.fixed(one, ZoneOffset.UTC));
			fire(job);
			assertThat(job.fireTimes()).containsExactly(one);
		});
	}

	@Test
	void anExpressionInTheScheduleIsResolvedAsSpringDoes() {
		this.runner.withBean("props", Props.class)
			.withUserConfiguration(Scheduling.class, Expression.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				JobStatus.Schedule schedule = schedules(context).get(0);
				assertThat(schedule.next()).isNotNull().asString().endsWith(":30:00Z");
			});
	}

	@Test
	void aScheduleThatCannotBeReadNamesTheJob() {
		this.runner.withUserConfiguration(Unreadable.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Unreadable.charge()")
				.hasMessageContaining("cannot be read: No bean named 'nothing'"));
	}

	@Test
	void anAnnotationThatSpringDoesNotSeeIsNoSchedule() {
		this.runner.withUserConfiguration(Scheduling.class, Implementation.class)
			.run((context) -> assertThat(schedules(context)).isEmpty());
	}

	@Test
	void aSubclassHasTheScheduleOfItsOwnMethodOnly() {
		this.runner.withUserConfiguration(Scheduling.class, Overriding.class)
			.run((context) -> assertThat(schedules(context)).singleElement()
				.satisfies((schedule) -> assertThat(schedule.next()).asString().endsWith("T05:00:00Z")));
	}

	private static List<JobStatus.Schedule> schedules(ApplicationContext context) {
		return context.getBean(SingletonJobs.class).jobs().get(0).schedules();
	}

	private static void fire(OnTheSecond job) throws NoSuchMethodException {
		new ScheduledMethodRunnable(job, job.getClass().getMethod("charge")).run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Circle {

		@Autowired
		Circle self;

		@Scheduled(cron = "0 0 1 * * *")
		@SingletonJob("billing")
		public void charge() {
		}

	}

	static class CircleWithoutSchedule {

		private final List<String> jobs = new CopyOnWriteArrayList<>();

		@Autowired
		CircleWithoutSchedule self;

		@SingletonJob("billing")
		public void charge() {
			this.jobs.add(JobRun.current().job());
		}

		public List<String> jobs() {
			return this.jobs;
		}

	}

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
	static class CodeWithCron {

		private final List<String> fireTimes = new CopyOnWriteArrayList<>();

		@SingletonJob("by-code")
		public void charge() {
			this.fireTimes.add(JobRun.current().fireTime().map(Instant::toString).orElse("none"));
		}

		public List<String> fireTimes() {
			return this.fireTimes;
		}

		@Bean
		static SchedulingConfigurer cron(CodeWithCron job) {
			return (registrar) -> registrar.addCronTask(job::charge, "* * * * * *");
		}

	}

	static class OnTheSecond {

		private final List<Instant> fireTimes = new CopyOnWriteArrayList<>();

		@Scheduled(cron = "0 0 * * * *", zone = "UTC", scheduler = "two")
		@SingletonJob("billing")
		public void charge() {
			this.fireTimes.add(JobRun.current().fireTime().orElseThrow());
		}

		public List<Instant> fireTimes() {
			return this.fireTimes;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoSchedulers {

		@Bean
		ThreadPoolTaskScheduler one() {
			return new ThreadPoolTaskScheduler();
		}

		@Bean
		ThreadPoolTaskScheduler two() {
			return new ThreadPoolTaskScheduler();
		}

		@Bean
		OnTheSecond job() {
			return new OnTheSecond();
		}

	}

	static class Props {

		public String getCron() {
			return "0 30 * * * *";
		}

		public String getZone() {
			return "UTC";
		}

	}

	static class Expression {

		@Scheduled(cron = "#{@props.cron}", zone = "#{@props.zone}")
		@SingletonJob("billing")
		public void charge() {
		}

	}

	static class Unreadable {

		@Scheduled(cron = "#{@nothing.cron}")
		@SingletonJob("billing")
		public void charge() {
		}

	}

	interface Contract {

		@Scheduled(cron = "0 0 1 * * *")
		void charge();

	}

	static class Implementation implements Contract {

		@Override
		@SingletonJob("billing")
		public void charge() {
		}

	}

	static class Nightly {

		@Scheduled(cron = "0 0 1 * * *", zone = "UTC")
		@SingletonJob("billing")
		public void charge() {
		}

	}

	static class Overriding extends Nightly {

		@Override
		@Scheduled(cron = "0 0 5 * * *", zone = "UTC")
		public void charge() {
		}

	}

}
