package io.github.singletonjob.faults;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.LeaseLostEvent;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.SingletonJob;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A server of the billing company, as a process: charges every customer that has no charge
 * yet, one transaction each. Its body is as stubborn as can be: it reads the list once, is
 * not interrupted, swallows every exception and goes on, so that the fence alone stands
 * between it and a second charge. Says what it does on its standard output.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
@Import(BillingProcess.Billing.class)
public class BillingProcess {

	public static void main(String[] args) {
		SpringApplication.run(BillingProcess.class, args);
	}

	@EventListener(ApplicationReadyEvent.class)
	void ready() {
		say("READY");
	}

	static void say(String line) {
		System.out.println("SAYS " + line);
	}

	static class Billing {

		private final JdbcClient jdbc;

		private final TransactionTemplate transactions;

		private final JobRun run;

		private final String server;

		private final int pauseInTransactionAt;

		private final CountDownLatch never = new CountDownLatch(1);

		Billing(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run,
				@Value("${server.name}") String server, @Value("${pause.in-transaction-at:-1}") int pauseInTransactionAt) {
			this.jdbc = jdbc;
			this.transactions = new TransactionTemplate(transactions);
			this.run = run;
			this.server = server;
			this.pauseInTransactionAt = pauseInTransactionAt;
		}

		@Scheduled(fixedDelay = 100)
		@SingletonJob(value = "billing", onLost = OnLost.SIGNAL)
		void charge() throws InterruptedException {
			List<Integer> due = this.jdbc
				.sql("select id from customer c where not exists (select 1 from charge where customer = c.id) order by id")
				.query(Integer.class)
				.list();
			if (due.isEmpty()) {
				pause(100);
				return;
			}
			say("BEGIN " + this.run.token());
			for (int customer : due) {
				charge(customer);
				pause(50);
			}
			say("END " + this.run.token() + " held=" + this.run.isHeld());
		}

		private void charge(int customer) {
			try {
				this.transactions.executeWithoutResult((status) -> write(customer));
				say("CHARGED " + customer + " with " + this.run.token());
			}
			catch (RuntimeException ex) {
				say("REFUSED " + customer + " with " + this.run.token() + ": " + ex);
			}
		}

		private void write(int customer) {
			this.jdbc.sql("update customer set charges = charges + 1 where id = ?").param(customer).update();
			this.jdbc.sql("insert into charge (customer, token, server) values (?, ?, ?)")
				.params(customer, this.run.token(), this.server)
				.update();
			if (customer == this.pauseInTransactionAt) {
				say("INSIDE " + customer);
				pause(1000);
			}
		}

		@EventListener
		void lost(LeaseLostEvent event) {
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
