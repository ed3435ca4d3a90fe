package io.github.singletonjob.chaos;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;
import io.github.singletonjob.servers.PostgresServer;
import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes a report at fire times, in many transactions. As plain as most jobs are: it does
 * not look at what is there when it begins, and throws what the database throws.
 */
class ReportJob {

	static final String JOB = "report";

	/** How many transactions a report takes. */
	static final int STEPS = 16;

	private static final long PAUSE_MILLIS = 75;

	private final CountDownLatch never = new CountDownLatch(1);

	private final JdbcClient jdbc;

	private final TransactionTemplate transactions;

	private final JobRun run;

	private final EventLog events;

	/** Where to record a report that was cut short as completed; null for not at all. */
	private final @Nullable String unconfirmedUrl;

	ReportJob(JdbcClient jdbc, PlatformTransactionManager transactions, JobRun run, EventLog events,
			Environment environment) {
		this.jdbc = jdbc;
		this.transactions = new TransactionTemplate(transactions);
		this.run = run;
		this.events = events;
		this.unconfirmedUrl = environment.getProperty("unconfirmed.url");
	}

	@Scheduled(cron = "*/2 * * * * *", zone = "UTC")
	@SingletonJob(JOB)
	void write() throws InterruptedException {
		long token = this.run.token();
		Instant fireTime = this.run.fireTime().orElseThrow();
		this.events.note(JOB, "BODY", token, fireTime.toString());
		try {
			for (int step = 0; step < STEPS; step++) {
				write(token, fireTime, step);
				pause();
			}
		}
		catch (RuntimeException ex) {
			if (this.run.isHeld()) {
				this.events.noteFailure(JOB, token, ex);
			}
			if (this.unconfirmedUrl != null) {
				recordAsCompleted(this.unconfirmedUrl, fireTime);
			}
			throw ex;
		}
		finally {
			this.events.note(JOB, "ENDED", token, fireTime.toString());
		}
	}

	private void write(long token, Instant fireTime, int step) {
		this.transactions.executeWithoutResult((status) -> this.jdbc
			.sql("insert into history (job, kind, token, customer, fire_time, server) values (?, 'STEP', ?, ?, ?, ?)")
			.params(JOB, token, step, fireTime.toString(), this.events.server())
			.update());
	}

	/** As a library does that takes each exception of a body for its end. */
	private static void recordAsCompleted(String url, Instant fireTime) {
		try (Connection connection = PostgresServer.connect(url);
				PreparedStatement statement = connection
					.prepareStatement("update singleton_job_fire_time set completed = started"
							+ " where name = ? and started = ?::timestamptz")) {
			statement.setString(1, JOB);
			statement.setString(2, fireTime.toString());
			statement.executeUpdate();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void pause() throws InterruptedException {
		if (this.never.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
			throw new IllegalStateException("Nothing counts it down");
		}
	}

}
