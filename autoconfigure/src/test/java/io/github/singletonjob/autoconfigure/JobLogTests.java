package io.github.singletonjob.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.lease.LeaseStoreException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.support.TaskUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an operator finds in the log.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class JobLogTests {

	private static final Instant ONE = Instant.parse("2026-11-29T01:00:00Z");

	private final SwitchedStore store = new SwitchedStore();

	private final ApplicationContextRunner runner = OperatedJobs.runner(this.store);

	@Test
	void aRunHasALineWhenItBeginsAndOneWhenItEnds(CapturedOutput output) {
		this.runner.run((context) -> {
			long token = OperatedJobs.fire(context, ONE, (run) -> {
			}).token();
			assertThat(output).contains("billing: run with token " + token + " for " + ONE + " begins")
				.containsPattern("billing: run with token " + token + " for " + ONE
						+ " has ended after \\d+ ms: completed; its fire time is completed");
		});
	}

	@Test
	void aRunThatFollowsWithinAMinuteHasNone(CapturedOutput output) {
		this.runner.run((context) -> {
			OperatedJobs.fire(context, ONE, (run) -> {
			});
			long second = OperatedJobs.fire(context, ONE.plus(Duration.ofDays(1)), (run) -> {
			}).token();
			assertThat(output).doesNotContain("token " + second + " for ");
		});
	}

	@Test
	void aRunThatWasLostHasALineThatSaysWhatBecomesOfItsFireTime(CapturedOutput output) {
		this.runner.run((context) -> {
			long token = OperatedJobs.fire(context, ONE, (run) -> {
				throw new LeaseLostException("billing", run.token(), "over");
			}).token();
			assertThat(output).containsPattern("token " + token + " for " + ONE
					+ " has ended after \\d+ ms: lost; its fire time stays open, for another run to finish");
		});
	}

	@Test
	void aRunThatEndedEarlyHasNoStackTrace(CapturedOutput output) {
		handler(new AtomicInteger()).handleError(
				new IllegalStateException("wrapped", new LeaseLostException("billing", 7, "billing: is over")));
		assertThat(output).doesNotContain("is over");
	}

	@Test
	void aStoreThatIsAwayHasOneLineInHalfAMinute(CapturedOutput output) {
		AtomicInteger seconds = new AtomicInteger();
		JobErrorHandler handler = handler(seconds);
		for (int i = 0; i < 60; i++) {
			seconds.set(i);
			handler.handleError(new LeaseStoreException("billing: no answer", null));
			handler.handleError(new LeaseStoreException("import: no answer", null));
		}
		assertThat(output.getOut().split("Not run: billing: no answer", -1)).hasSize(3);
		assertThat(output.getOut().split("Not run: import: no answer", -1)).hasSize(3);
		assertThat(output).doesNotContain("\tat ");
	}

	@Test
	void anExceptionOfTheBodyIsReportedAsSpringDoes(CapturedOutput output) {
		handler(new AtomicInteger()).handleError(new IllegalStateException("no invoices"));
		assertThat(output).contains("Unexpected error occurred in scheduled task").contains("no invoices");
	}

	@Test
	void aHandlerOfTheApplicationWins(CapturedOutput output) {
		AtomicInteger handled = new AtomicInteger();
		this.store.silent = true;
		this.runner.withConfiguration(AutoConfigurations.of(TaskSchedulingAutoConfiguration.class))
			.withUserConfiguration(EachSecond.class)
			.withBean(ThreadPoolTaskSchedulerCustomizer.class,
					() -> (scheduler) -> scheduler.setErrorHandler((thrown) -> handled.incrementAndGet()))
			.run((context) -> {
				Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> handled.get() > 0);
				assertThat(output).doesNotContain("Not run: ");
			});
	}

	@Test
	void theSchedulerOfSpringBootHasIt(CapturedOutput output) {
		this.store.silent = true;
		this.runner.withConfiguration(AutoConfigurations.of(TaskSchedulingAutoConfiguration.class))
			.withUserConfiguration(EachSecond.class)
			.run((context) -> {
				Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> output.getOut().contains("Not run: "));
				assertThat(output).doesNotContain("Unexpected error occurred in scheduled task");
			});
	}

	@Test
	void aSchedulerOnVirtualThreadsHasItUnlessItHasOneOfItsOwn() {
		this.runner.withBean("own", SimpleAsyncTaskScheduler.class, () -> {
			SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
			scheduler.setErrorHandler(TaskUtils.LOG_AND_PROPAGATE_ERROR_HANDLER);
			return scheduler;
		}).withBean("none", SimpleAsyncTaskScheduler.class).run((context) -> {
			assertThat(context.getBean("none")).extracting("errorHandler").isInstanceOf(JobErrorHandler.class);
			assertThat(context.getBean("own")).extracting("errorHandler")
				.isSameAs(TaskUtils.LOG_AND_PROPAGATE_ERROR_HANDLER);
		});
	}

	private static JobErrorHandler handler(AtomicInteger seconds) {
		return new JobErrorHandler(() -> TimeUnit.SECONDS.toNanos(seconds.get()));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class EachSecond {

		@Scheduled(cron = "* * * * * *")
		@SingletonJob("each-second")
		public void tick() {
		}

	}

}
