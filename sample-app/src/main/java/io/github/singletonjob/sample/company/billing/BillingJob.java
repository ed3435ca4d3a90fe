package io.github.singletonjob.sample.company.billing;

import java.util.List;

import io.github.singletonjob.IdempotencyKey;
import io.github.singletonjob.JobRun;
import io.github.singletonjob.OnLost;
import io.github.singletonjob.SingletonJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Charges every customer once per period. A run that ends early leaves invoices open, and
 * the next firing, on whichever server, goes on with them.
 */
@Component
class BillingJob {

	private static final Logger logger = LoggerFactory.getLogger(BillingJob.class);

	private final InvoiceBook book;

	private final CardNetwork cardNetwork;

	private final JobRun run;

	BillingJob(InvoiceBook book, CardNetwork cardNetwork, JobRun run) {
		this.book = book;
		this.cardNetwork = cardNetwork;
		this.run = run;
	}

	// SIGNAL: no call to the card network is cut off half way; the run stops between two
	// customers instead.
	@Scheduled(cron = "${company.billing.cron}")
	@SingletonJob(value = "billing", onLost = OnLost.SIGNAL)
	void chargeEveryone() {
		long period = this.book.periodToBill();
		List<Invoice> open = this.book.openInvoices(period);
		logger.info("billing: token {}: charging {} customers for period {}", this.run.token(), open.size(), period);
		for (Invoice invoice : open) {
			this.run.ensureHeld();
			charge(invoice);
		}
		this.book.close(period);
		logger.info("billing: token {}: period {} is done", this.run.token(), period);
	}

	private void charge(Invoice invoice) {
		// The card network cannot compare tokens. It knows the charge again by its key,
		// which is the same for every retry and every server.
		IdempotencyKey key = this.run.idempotencyKey("invoice", invoice.getCustomerId(), invoice.getPeriod());
		String payment = this.cardNetwork.charge(invoice, key);
		// A server that is frozen here believes on waking that it may go on. Its token is
		// older than the one that the database has seen by then: the commit is refused.
		this.book.recordCharge(invoice.getId(), payment);
	}

}
