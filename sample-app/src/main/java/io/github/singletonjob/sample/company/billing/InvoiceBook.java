package io.github.singletonjob.sample.company.billing;

import java.util.List;

import io.github.singletonjob.JobRun;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The company's books about who owes and who has paid. Ordinary transactions: the fence
 * checks each of them as it commits.
 */
@Service
class InvoiceBook {

	private final BillingPeriods periods;

	private final Invoices invoices;

	private final Charges charges;

	private final JobRun run;

	InvoiceBook(BillingPeriods periods, Invoices invoices, Charges charges, JobRun run) {
		this.periods = periods;
		this.invoices = invoices;
		this.charges = charges;
		this.run = run;
	}

	/**
	 * Chooses what to bill: the period that an earlier run did not finish, or else a new
	 * one.
	 * @return the number of the period
	 */
	@Transactional
	long periodToBill() {
		return this.periods.findFirstByClosedAtIsNullOrderByNumber()
			.map(BillingPeriod::getNumber)
			.orElseGet(this::openNextPeriod);
	}

	private long openNextPeriod() {
		BillingPeriod period = this.periods.save(new BillingPeriod(this.periods.lastNumber() + 1));
		this.invoices.openForEveryCustomer(period.getNumber());
		return period.getNumber();
	}

	/**
	 * Those who have not paid.
	 * @param period the period
	 * @return their invoices
	 */
	@Transactional(readOnly = true)
	List<Invoice> openInvoices(long period) {
		return this.invoices.findByPeriodAndStatusOrderByCustomerId(period, Invoice.Status.OPEN);
	}

	/**
	 * Enters a payment.
	 * @param invoiceId the invoice that was paid
	 * @param payment the card network's reference
	 */
	@Transactional
	void recordCharge(long invoiceId, String payment) {
		Invoice invoice = this.invoices.getById(invoiceId);
		invoice.markCharged(this.run.token());
		this.charges.save(new Charge(invoice, payment, this.run));
	}

	/**
	 * Closes a period: all have paid.
	 * @param period the period
	 */
	@Transactional
	void close(long period) {
		this.periods.getByNumber(period).close();
	}

}
