package io.github.singletonjob.chaos;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Sends statements at fire times. Its body stops when it is told to, and repeats what the
 * database did not take for as long as it is held, so that it never throws.
 */
class StatementsJob {

	static final String JOB = "statements";

	private static final int STEPS = 6;

	private static final long STEP_MILLIS = 100;

	private final CountDownLatch never = new CountDownLatch(1);

	private final JdbcClient jdbc;

	private final TransactionTemplate transactions;

	private final JobRun run;

	private final EventLog events;

	StatementsJob(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run, EventLog events) {
		this.jdbc = jdbc;
		this.transactions = new TransactionTemplate(transactions);
		this.run = run;
		this.events = events;
	}

	@Scheduled(cron = "*/3 * * * * *", zone = "UTC")
	@SingletonJob(JOB)
	void send() {
		long token = this.run.token();
		String fireTime = this.run.fireTime().orElseThrow().toString();
		this.events.note(JOB, "BODY", token, fireTime);
		if (insist("BEGIN", token, fireTime) && work(token)) {
			insist("END", token, fireTime);
		}
		this.events.note(JOB, "ENDED", token, fireTime);
	}

	private boolean work(long token) {
		for (int step = 0; step < STEPS; step++) {
			if (!this.run.isHeld()) {
				return false;
			}
			this.events.note(JOB, "STEP", token, "");
			if (isInterrupted()) {
				return false;
			}
		}
		return true;
	}

	private boolean insist(String kind, long token, String fireTime) {
		while (this.run.isHeld()) {
			try {
				this.transactions.executeWithoutResult((status) -> write(kind, token, fireTime));
				return true;
			}
			catch (RuntimeException ex) {
				this.events.noteFailure(JOB, token, ex);
			}
			if (isInterrupted()) {
				return false;
			}
		}
		return false;
	}

	private void write(String kind, long token, String fireTime) {
		this.jdbc.sql("insert into history (job, kind, token, fire_time, server) values (?, ?, ?, ?, ?)")
			.params(JOB, kind, token, fireTime, this.events.server())
			.update();
	}

	private boolean isInterrupted() {
		try {
			return this.never.await(STEP_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			return true;
		}
	}

}
