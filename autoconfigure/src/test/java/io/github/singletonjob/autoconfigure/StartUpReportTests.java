package io.github.singletonjob.autoconfigure;

import io.github.singletonjob.PerInstance;
import io.github.singletonjob.SingletonJob;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the log says at start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartUpReportTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop",
				"singleton-job.lease.ttl=6s")
		.withBean(Scheduler.class)
		.withBean(LocalCaches.class);

	@Test
	void oneLineSaysWhatThereIs(CapturedOutput output) {
		this.runner
			.run((context) -> assertThat(output.getOut().lines().filter((line) -> line.contains("Singleton jobs [")))
				.singleElement()
				.asString()
				.contains("[billing]", "namespace 'shop'", "leases in in-memory", "ttl 6000 ms",
						"renewed every 2000 ms", "INFO"));
	}

	@Test
	void unmarkedMethodsAreListedIfThatIsWanted(CapturedOutput output) {
		this.runner.withPropertyValues("singleton-job.report-unmarked=true")
			.run((context) -> assertThat(
					output.getOut().lines().filter((line) -> line.contains("run on every instance")))
				.singleElement()
				.asString()
				.contains("WARN", "StartUpReportTests$Scheduler.mailEveryone()", "@SingletonJob", "@PerInstance")
				.doesNotContain("charge", "cleanCache", "LocalCaches"));
	}

	@Test
	void unmarkedMethodsAreNotListedOtherwise(CapturedOutput output) {
		this.runner.run((context) -> assertThat(output).doesNotContain("run on every instance"));
	}

	static class Scheduler {

		@Scheduled(cron = "0 0 1 * * *")
		@SingletonJob("billing")
		void charge() {
		}

		@Scheduled(cron = "0 0 2 * * *")
		void mailEveryone() {
		}

		@Scheduled(fixedDelay = 1000)
		@PerInstance
		void cleanCache() {
		}

	}

	@PerInstance
	static class LocalCaches {

		@Scheduled(fixedDelay = 1000)
		void refresh() {
		}

	}

}
