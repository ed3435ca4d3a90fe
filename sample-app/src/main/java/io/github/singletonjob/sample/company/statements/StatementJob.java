package io.github.singletonjob.sample.company.statements;

import java.util.List;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.SingletonJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Writes and mails the statements of all closed periods, some at a time: a run that ends
 * early leaves the rest to the next one.
 */
@Component
class StatementJob {

	private static final Logger logger = LoggerFactory.getLogger(StatementJob.class);

	private static final int BATCH = 50;

	private final StatementBook book;

	private final MailProvider mailProvider;

	private final JobRun run;

	StatementJob(StatementBook book, MailProvider mailProvider, JobRun run) {
		this.book = book;
		this.mailProvider = mailProvider;
		this.run = run;
	}

	@Scheduled(cron = "${company.statements.cron}")
	@SingletonJob("statements")
	void writeAndMail() {
		int written = write();
		int mailed = mail();
		if (written + mailed > 0) {
			logger.info("statements: token {}: {} written, {} mailed", this.run.token(), written, mailed);
		}
	}

	private int write() {
		int written = 0;
		List<Statement> statements = this.book.missing(BATCH);
		while (!statements.isEmpty()) {
			this.book.write(statements);
			written += statements.size();
			statements = this.book.missing(BATCH);
		}
		return written;
	}

	private int mail() {
		int mailed = 0;
		List<Statement> statements = this.book.unmailed(BATCH);
		while (!statements.isEmpty()) {
			statements.forEach(this::send);
			this.book.markMailed(statements);
			mailed += statements.size();
			statements = this.book.unmailed(BATCH);
		}
		return mailed;
	}

	private void send(Statement statement) {
		this.run.ensureHeld();
		this.mailProvider.send(statement,
				this.run.idempotencyKey("statement", statement.customerId(), statement.period()));
	}

}
