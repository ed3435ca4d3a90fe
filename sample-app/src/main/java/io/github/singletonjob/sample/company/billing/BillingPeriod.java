package io.github.singletonjob.sample.company.billing;

import java.time.Instant;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.jspecify.annotations.Nullable;

/**
 * A time for which every customer pays once. It is closed when all have been charged.
 */
@Entity
class BillingPeriod {

	@Id
	private long number;

	private Instant openedAt = Instant.now();

	private @Nullable Instant closedAt;

	protected BillingPeriod() {
		// for JPA
	}

	BillingPeriod(long number) {
		this.number = number;
	}

	long getNumber() {
		return this.number;
	}

	Instant getOpenedAt() {
		return this.openedAt;
	}

	void close() {
		this.closedAt = Instant.now();
	}

	boolean isClosed() {
		return this.closedAt != null;
	}

}
