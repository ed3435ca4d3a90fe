package io.github.singletonjob.chaos;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Charges the customers of the open period, one transaction each, and opens the next
 * period if all are charged. As stubborn as can be: it reads its list once, ignores
 * interrupts and what it is told, swallows every exception and goes on.
 */
final class BillingJob {

	static final String JOB = "billing";

	private static final long PAUSE_MILLIS = 50;

	private final CountDownLatch never = new CountDownLatch(1);

	private final JdbcClient jdbc;

	private final TransactionTemplate transactions;

	private final EventLog events;

	BillingJob(JdbcClient jdbc, PlatformTransactionManager transactions, EventLog events) {
		this.jdbc = jdbc;
		this.transactions = new TransactionTemplate(transactions);
		this.events = events;
	}

	void run(long token, Keys keys) {
		this.events.note(JOB, "BODY", token, "");
		try {
			begin(token, keys);
		}
		catch (RuntimeException ex) {
			this.events.noteFailure(JOB, token, ex);
		}
		finally {
			this.events.note(JOB, "ENDED", token, "");
		}
	}

	private void begin(long token, Keys keys) {
		this.transactions.executeWithoutResult((status) -> write("BEGIN", token, 0, 0));
		int period = this.jdbc.sql("select max(id) from period").query(Integer.class).single();
		List<Integer> due = due(period);
		if (due.isEmpty()) {
			this.transactions.executeWithoutResult(
					(status) -> this.jdbc.sql("insert into period (id) values (?) on conflict do nothing")
						.param(period + 1)
						.update());
		}
		for (int customer : due) {
			charge(token, keys, period, customer);
			pause();
		}
	}

	private List<Integer> due(int period) {
		return this.jdbc
			.sql("select id from customer c where not exists (select 1 from history h"
					+ " where h.kind = 'CHARGE' and h.period = ? and h.customer = c.id) order by id")
			.param(period)
			.query(Integer.class)
			.list();
	}

	private void charge(long token, Keys keys, int period, int customer) {
		this.events.requestCharge(keys.of(period, customer), period, customer);
		try {
			this.transactions.executeWithoutResult((status) -> write("CHARGE", token, period, customer));
		}
		catch (RuntimeException ex) {
			this.events.noteFailure(JOB, token, ex);
		}
	}

	private void write(String kind, long token, int period, int customer) {
		this.jdbc.sql("insert into history (job, kind, token, period, customer, server) values (?, ?, ?, ?, ?, ?)")
			.params(JOB, kind, token, period, customer, this.events.server())
			.update();
	}

	/** An interrupt is noted and forgotten. */
	private void pause() {
		try {
			if (this.never.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Nobody counts it down");
			}
		}
		catch (InterruptedException ex) {
			this.events.note(JOB, "INTERRUPTED", 0, "");
		}
	}

	/** The idempotency key of a charge. */
	interface Keys {

		String of(int period, int customer);

	}

}
