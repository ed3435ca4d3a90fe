package io.github.singletonjob.faults;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

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
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A server of the billing company, as a process: charges every customer that has no
 * charge yet, one transaction each. Its body is as stubborn as can be: it reads the list
 * once, is not interrupted, swallows every exception and goes on, so that the fence alone
 * stands between it and a second charge. Says what it does on its standard output.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
@EnableScheduling
@Import(BillingProcess.Billing.class)
public class BillingProcess {

	public static void main(String[] args) {
		SpringApplication.run(BillingProcess.class, args);
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
		say("READY");
	}

	static void say(String line) {
		System.out.println("SAYS " + line + " @" + System.currentTimeMillis());
	}

	static class Billing {

		/** So many customers are charged before tests do something to a run. */
		private static final int FAULT_AFTER = 5;

		/** So that a fault comes in time on a busy machine, and in no transaction. */
		private static final long LONG_PAUSE = 500;

		private final JdbcClient jdbc;

		private final TransactionTemplate transactions;

		private final JobRun run;

		private final String server;

		private final long pauseMillis;

		private final CountDownLatch never = new CountDownLatch(1);

		Billing(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run, Environment environment) {
			this.jdbc = jdbc;
			this.transactions = new TransactionTemplate(transactions);
			this.run = run;
			this.server = environment.getRequiredProperty("server.name");
			this.pauseMillis = environment.getProperty("pause.millis", Long.class, 50L);
		}

		@Scheduled(fixedDelay = 100)
		@SingletonJob(value = "billing", onLost = OnLost.SIGNAL)
		void charge() throws InterruptedException {
			List<Integer> due = this.jdbc.sql(
					"select id from customer c where not exists (select 1 from charge where customer = c.id) order by id")
				.query(Integer.class)
				.list();
			if (due.isEmpty()) {
				pause(100);
				return;
			}
			say("BEGIN " + this.run.token());
			for (int i = 1; i <= due.size(); i++) {
				charge(due.get(i - 1));
				pause((i == FAULT_AFTER) ? Math.max(LONG_PAUSE, this.pauseMillis) : this.pauseMillis);
			}
			say("END " + this.run.token() + " held=" + this.run.isHeld());
		}

		private void charge(int customer) {
			try {
				this.transactions.executeWithoutResult((status) -> write(customer));
				say("CHARGED " + customer + " with " + this.run.token());
			}
			catch (RuntimeException ex) {
				say("REFUSED " + customer + " with " + this.run.token() + ": "
						+ NestedExceptionUtils.getMostSpecificCause(ex));
			}
		}

		private void write(int customer) {
			boolean pauses = this.jdbc.sql("update customer set charges = charges + 1 where id = ? returning pauses")
				.param(customer)
				.query(Boolean.class)
				.single();
			this.jdbc.sql("insert into charge (customer, token, server) values (?, ?, ?)")
				.params(customer, this.run.token(), this.server)
				.update();
			if (pauses) {
				say("INSIDE " + customer);
				pause(1000);
			}
		}

		@EventListener
		void lost(JobRunEvent.Lost event) {
			say("LOST " + event.token() + ": " + event.reason());
		}

		private void pause(long millis) {
			try {
				if (this.never.await(millis, TimeUnit.MILLISECONDS)) {
					throw new IllegalStateException("Nobody counts it down");
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
