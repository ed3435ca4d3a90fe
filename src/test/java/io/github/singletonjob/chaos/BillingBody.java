package io.github.singletonjob.chaos;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Charges the customers of the open period, one transaction each, and opens the next
 * period if all are charged. As stubborn as can be: it reads its list once, ignores
 * interrupts and what it is told, swallows every exception and goes on.
 */
final class BillingBody {

	static final String JOB = "billing";

	private static final long PAUSE_MILLIS = 50;

	private final CountDownLatch never = new CountDownLatch(1);

	private final JdbcClient jdbc;

	private final TransactionTemplate transactions;

	private final Diary diary;

	BillingBody(JdbcClient jdbc, PlatformTransactionManager transactions, Diary diary) {
		this.jdbc = jdbc;
		this.transactions = new TransactionTemplate(transactions);
		this.diary = diary;
	}

	void run(long token, Keys keys) {
		this.diary.note(JOB, "BODY", token, "");
		try {
			begin(token, keys);
		}
		catch (RuntimeException ex) {
			refused(JOB, token, ex);
		}
		finally {
			this.diary.note(JOB, "ENDED", token, "");
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
		this.diary.requestCharge(keys.of(period, customer), period, customer);
		try {
			this.transactions.executeWithoutResult((status) -> write("CHARGE", token, period, customer));
		}
		catch (RuntimeException ex) {
			refused(JOB, token, ex);
		}
	}

	private void write(String kind, long token, int period, int customer) {
		this.jdbc.sql("insert into history (job, kind, token, period, customer, server) values (?, ?, ?, ?, ?, ?)")
			.params(JOB, kind, token, period, customer, this.diary.server())
			.update();
	}

	private void refused(String job, long token, RuntimeException failure) {
		this.diary.note(job, isStale(failure) ? "REFUSED" : "FAILED", token, describe(failure));
	}

	static boolean isStale(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof StaleTokenException || cause instanceof LeaseLostException) {
				return true;
			}
		}
		return false;
	}

	static String describe(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		String state = (cause instanceof SQLException sql) ? sql.getSQLState() + " " : "";
		return state + cause;
	}

	/** An interrupt is noted and forgotten. */
	private void pause() {
		try {
			if (this.never.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Nobody counts it down");
			}
		}
		catch (InterruptedException ex) {
			this.diary.note(JOB, "INTERRUPTED", 0, "");
		}
	}

	/** The idempotency key of a charge. */
	interface Keys {

		String of(int period, int customer);

	}

}
