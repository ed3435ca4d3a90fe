package io.github.singletonjob.autoconfigure;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.singletonjob.JobBody;
import io.github.singletonjob.JobOptions;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.lease.Firing;
import io.github.singletonjob.runtime.RunRequest;
import org.awaitility.Awaitility;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application with a billing job, over a store that can be switched off, for tests of
 * what an operator sees.
 */
@Configuration(proxyBeanMethods = false)
class OperatedJobs {

	static ApplicationContextRunner runner(SwitchedStore store) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class,
					SingletonJobObservabilityAutoConfiguration.class, SingletonJobsEndpointAutoConfiguration.class,
					SingletonJobsHealthAutoConfiguration.class, AopAutoConfiguration.class,
					TaskSchedulingAutoConfiguration.class))
			.withBean("leases", SwitchedStore.class, () -> store)
			.withUserConfiguration(OperatedJobs.class)
			.withPropertyValues("singleton-job.namespace=shop", "singleton-job.holder=server-1",
					"singleton-job.lease.ttl=2s", "spring.jmx.enabled=true",
					"management.endpoints.jmx.exposure.include=*");
	}

	/** Runs a body as a firing of the billing job's schedule does. */
	static RunResult fire(ApplicationContext context, Instant fireTime, JobBody body) {
		JobSettings settings = context.getBean(JobSettings.class);
		return context.getBean(JobEngine.class)
			.run(new RunRequest(settings.id("billing"), settings.settings("billing", JobOptions.defaults()),
					new Firing("", fireTime, true)), body);
	}

	static void await(Callable<Boolean> condition) {
		Awaitility.await().atMost(20, TimeUnit.SECONDS).until(condition);
	}

	static void onAnotherThread(Runnable call) {
		try {
			CompletableFuture.runAsync(call).get(20, TimeUnit.SECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Bean
	Events events() {
		return new Events();
	}

	@Bean
	Billing billing() {
		return new Billing();
	}

	public static class Billing {

		@Scheduled(cron = "0 0 1 * * *", zone = "UTC")
		@SingletonJob(value = "billing", maxRun = "2h")
		public void charge() {
		}

	}

	static class Events {

		final List<Record> seen = new CopyOnWriteArrayList<>();

		@EventListener
		void on(Record event) {
			this.seen.add(event);
		}

		<T extends Record> List<T> of(Class<T> type) {
			return this.seen.stream().filter(type::isInstance).map(type::cast).toList();
		}

	}

}
