package io.github.singletonjob.faults;

import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * A server that sends statements at fire times. Its body works for two seconds, stops
 * when it is told to and returns normally then. Says what it does on its standard output.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
@EnableScheduling
@Import(StatementProcess.Statements.class)
public class StatementProcess {

	public static void main(String[] args) {
		SpringApplication.run(StatementProcess.class, args);
	}

	@EventListener(ApplicationReadyEvent.class)
	void ready() {
		say("READY");
	}

	static void say(String line) {
		System.out.println("SAYS " + line + " @" + System.currentTimeMillis());
	}

	static class Statements {

		private static final int STEPS = 20;

		private final JdbcClient jdbc;

		private final JobRun run;

		private final String server;

		private final CountDownLatch never = new CountDownLatch(1);

		Statements(JdbcClient jdbc, JobRun run, Environment environment) {
			this.jdbc = jdbc;
			this.run = run;
			this.server = environment.getRequiredProperty("server.name");
		}

		@Scheduled(cron = "*/10 * * * * *", zone = "UTC")
		@SingletonJob("statements")
		void send() {
			Instant fireTime = this.run.fireTime().orElseThrow();
			String what = fireTime + (this.run.isTakeover() ? " takeover " : " first ") + this.run.token();
			record("begin", fireTime);
			// Only now, so that whoever is frozen from here on is in the loop
			say("BEGIN " + what);
			for (int step = 0; step < STEPS; step++) {
				if (!this.run.isHeld() || isInterruptedWithin(100)) {
					say("CUT " + what);
					return;
				}
			}
			record("end", fireTime);
			say("END " + what);
		}

		private void record(String event, Instant fireTime) {
			this.jdbc.sql("insert into sending (event, fire_time, token, server) values (?, ?, ?, ?)")
				.params(event, fireTime.toString(), this.run.token(), this.server)
				.update();
		}

		private boolean isInterruptedWithin(long millis) {
			try {
				return this.never.await(millis, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				return true;
			}
		}

	}

}
