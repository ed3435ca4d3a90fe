package io.github.singletonjob.rows;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.SingletonJob;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * A server that charges invoices, as a process, with nothing but the check of single rows
 * between a stale holder and a second charge. Its body is as stubborn as can be: it reads
 * the list once, is not interrupted, is not told that it is lost, swallows every
 * exception and goes on.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
@Import({ RowFencedProcess.Billing.class, Charging.class, InvoiceEntities.class })
public class RowFencedProcess {

	/** After so many invoices a run waits, outside of a transaction, to be frozen. */
	static final int FREEZE_AFTER = 5;

	public static void main(String[] args) {
		SpringApplication.run(RowFencedProcess.class, args);
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

		private final JobRun run;

		private final Charging charging;

		private final CountDownLatch never = new CountDownLatch(1);

		Billing(JdbcClient jdbc, JobRun run, Charging charging) {
			this.jdbc = jdbc;
			this.run = run;
			this.charging = charging;
		}

		@Scheduled(fixedDelay = 100)
		@SingletonJob(value = "billing", onLost = OnLost.SIGNAL)
		void charge() {
			List<Long> due = this.jdbc.sql("select id from invoice where status = 'OPEN' order by id")
				.query(Long.class)
				.list();
			if (due.isEmpty()) {
				pause(100);
				return;
			}
			String way = this.jdbc.sql("select way from plan").query(String.class).single();
			try (var scope = CurrentJobRun.open(neverTold()); Charging.Way charge = this.charging.begin(way)) {
				say("BEGIN " + this.run.token());
				for (int i = 0; i < due.size(); i++) {
					charge(charge, due.get(i));
					pause((i + 1 == FREEZE_AFTER) ? 1000 : 50);
				}
			}
			say("END " + this.run.token());
		}

		// What this process learns of its loss as it wakes up must not help it here
		private JobRun neverTold() {
			return Runs.of(this.run.job(), this.run.token());
		}

		private void charge(Charging.Way charge, long invoice) {
			try {
				charge.one(invoice);
				say("CHARGED " + invoice + " with " + this.run.token());
			}
			catch (RuntimeException ex) {
				say("REFUSED " + invoice + " with " + this.run.token() + ": "
						+ NestedExceptionUtils.getMostSpecificCause(ex));
			}
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
