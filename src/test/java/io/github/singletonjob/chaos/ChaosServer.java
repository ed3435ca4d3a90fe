package io.github.singletonjob.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

import javax.sql.DataSource;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.JobRunEvent;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.autoconfigure.SingletonJobDataSource;
import io.github.singletonjob.servers.PostgresServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A server of the billing company, as a process. Its scheduler's clock is stepped by a
 * line on its standard input.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
@EnableScheduling
@Import({ ChaosServer.Billing.class, StatementsJob.class, ReportJob.class })
public class ChaosServer {

	public static void main(String[] args) throws IOException {
		SteppedClock clock = SpringApplication.run(ChaosServer.class, args).getBean(SteppedClock.class);
		BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = steps.readLine(); line != null; line = steps.readLine()) {
			clock.stepTo(Duration.ofMillis(Long.parseLong(line)));
		}
	}

	@Bean
	EventLog events(Environment environment) {
		return new EventLog(environment.getRequiredProperty("events.url"),
				environment.getRequiredProperty("server.name"));
	}

	@Bean
	SteppedClock steppedClock() {
		return new SteppedClock();
	}

	@Bean
	ThreadPoolTaskSchedulerCustomizer steppedScheduler(SteppedClock clock) {
		return (scheduler) -> scheduler.setClock(clock);
	}

	/** The store's own way to the database, so that it can be cut alone. */
	@Bean(defaultCandidate = false)
	@SingletonJobDataSource
	@ConditionalOnProperty("store.url")
	DataSource storeDataSource(Environment environment) {
		return new DriverManagerDataSource(environment.getRequiredProperty("store.url"), PostgresServer.USERNAME, "");
	}

	@EventListener(ApplicationReadyEvent.class)
	void ready() {
		System.out.println("SAYS READY");
	}

	static class Billing {

		private final BillingJob body;

		private final JobRun run;

		private final EventLog events;

		Billing(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run, EventLog events) {
			this.body = new BillingJob(jdbc, transactions, events);
			this.run = run;
			this.events = events;
		}

		@Scheduled(fixedDelay = 100)
		@SingletonJob(value = BillingJob.JOB, onLost = OnLost.SIGNAL)
		void charge() {
			this.body.run(this.run.token(),
					(period, customer) -> this.run.idempotencyKey("charge", customer, period).toString());
		}

		@EventListener
		void granted(JobRunEvent.Granted event) {
			this.events.note(event.job(), "GRANTED", event.token(), String.valueOf(event.fireTime()));
		}

		@EventListener
		void lost(JobRunEvent.Lost event) {
			this.events.note(event.job(), "LOST", event.token(), event.reason());
		}

	}

	/**
	 * The system's clock, until it is stepped.
	 */
	static final class SteppedClock extends Clock {

		private volatile Duration offset = Duration.ZERO;

		void stepTo(Duration offset) {
			this.offset = offset;
		}

		@Override
		public Instant instant() {
			return Instant.now().plus(this.offset);
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

}
