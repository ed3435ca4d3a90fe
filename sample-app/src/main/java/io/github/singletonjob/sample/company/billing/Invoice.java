package io.github.singletonjob.sample.company.billing;

import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;

/**
 * What a customer owes for a period.
 */
@Entity
class Invoice {

	@Id
	@GeneratedValue(strategy = GenerationType.IDENTITY)
	private long id;

	private long customerId;

	private long period;

	private long amountCents;

	@Enumerated(EnumType.STRING)
	private Status status = Status.OPEN;

	private long token;

	protected Invoice() {
		// for JPA
	}

	Invoice(long customerId, long period, long amountCents) {
		this.customerId = customerId;
		this.period = period;
		this.amountCents = amountCents;
	}

	/**
	 * Marks the invoice as paid. Nobody asks here whether another server was faster: the
	 * database lets only the run with the newest token commit this.
	 * @param token the token of the run that charged the customer
	 */
	void markCharged(long token) {
		this.status = Status.CHARGED;
		this.token = token;
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

	Status getStatus() {
		return this.status;
	}

	long getToken() {
		return this.token;
	}

	/**
	 * Whether the invoice was paid.
	 */
	enum Status {

		/** The customer owes the amount. */
		OPEN,

		/** The card network has taken the amount from the customer. */
		CHARGED

	}

}
