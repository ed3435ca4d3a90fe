package io.github.singletonjob.sample.company.billing;

import java.time.Instant;

import io.github.singletonjob.JobRun;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;

/**
 * An entry in the company's books: a customer has paid for a period. A second entry for
 * the same customer and period is the accident that the fence prevents.
 */
@Entity
class Charge {

	@Id
	@GeneratedValue(strategy = GenerationType.IDENTITY)
	private long id;

	private long customerId;

	private long period;

	private long amountCents;

	private String payment;

	private long token;

	private String holder;

	private Instant chargedAt = Instant.now();

	@SuppressWarnings("NullAway.Init")
	protected Charge() {
		// for JPA
	}

	Charge(Invoice invoice, String payment, JobRun run) {
		this.customerId = invoice.getCustomerId();
		this.period = invoice.getPeriod();
		this.amountCents = invoice.getAmountCents();
		this.payment = payment;
		this.token = run.token();
		this.holder = run.holder();
	}

	long getId() {
		return this.id;
	}

	long getCustomerId() {
		return this.customerId;
	}

	long getPeriod() {
		return this.period;
	}

	long getAmountCents() {
		return this.amountCents;
	}

	String getPayment() {
		return this.payment;
	}

	long getToken() {
		return this.token;
	}

	String getHolder() {
		return this.holder;
	}

	Instant getChargedAt() {
		return this.chargedAt;
	}

}
