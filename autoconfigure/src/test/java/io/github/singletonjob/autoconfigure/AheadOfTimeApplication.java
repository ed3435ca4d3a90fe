package io.github.singletonjob.autoconfigure;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobStatus;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.SingletonJobs;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * A small application with jobs, started in processes of its own: from sources that were
 * processed ahead of time, and on virtual threads. Prints what happens, and ends.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@ImportAutoConfiguration({ SingletonJobAutoConfiguration.class, SingletonJobObservabilityAutoConfiguration.class,
		SingletonJobsHealthAutoConfiguration.class, AopAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
		MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
		SimpleMetricsExportAutoConfiguration.class, ObservationAutoConfiguration.class })
@EnableScheduling
public class AheadOfTimeApplication {

	public static void main(String[] args) throws InterruptedException {
		ConfigurableApplicationContext context = SpringApplication.run(AheadOfTimeApplication.class, args);
		if (context.isRunning()) {
			exercise(context);
			context.close();
			say("closed");
		}
	}

	private static void exercise(ConfigurableApplicationContext context) throws InterruptedException {
		SingletonJobs jobs = context.getBean(SingletonJobs.class);
		say("scheduled " + Billing.ran.await(30, TimeUnit.SECONDS));
		say("live " + Billing.live.await(30, TimeUnit.SECONDS));
		say("by code " + jobs.run("import", (run) -> jobs.assertHeld("import")).outcome());
		for (JobStatus job : jobs.jobs()) {
			if (job.job().equals("live")) {
				say("released " + jobs.release("live", job.lease().token()));
			}
		}
		say("told " + Billing.told.await(30, TimeUnit.SECONDS));
	}

	private static void say(String line) {
		System.out.println("> " + line);
	}

	@Bean
	Billing billing(JobRun run) {
		return new Billing(run);
	}

	static class Billing {

		// Not of an object, because the bean is a proxy without a state
		private static final CountDownLatch ran = new CountDownLatch(1);

		private static final CountDownLatch live = new CountDownLatch(1);

		private static final CountDownLatch told = new CountDownLatch(1);

		private static final CountDownLatch never = new CountDownLatch(1);

		private final JobRun run;

		Billing(JobRun run) {
			this.run = run;
		}

		@Scheduled(fixedDelay = 100)
		@SingletonJob(value = "billing", ttl = "2s")
		void charge() {
			if (ran.getCount() > 0) {
				// Thread.isVirtual() is newer than the release that this is compiled for
				say(this.run.job() + " held " + this.run.isHeld() + " on "
						+ (Thread.currentThread().toString().startsWith("VirtualThread") ? "virtual" : "platform"));
				ran.countDown();
			}
		}

		@SingletonJob(value = "live", ttl = "2s", continuous = true)
		void goOn() throws InterruptedException {
			live.countDown();
			try {
				say("never " + never.await(60, TimeUnit.SECONDS));
			}
			catch (InterruptedException ex) {
				told.countDown();
				throw ex;
			}
		}

	}

}
