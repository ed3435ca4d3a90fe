package io.github.singletonjob.rows;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/**
 * The same row with nothing that guards it.
 */
@Entity
@Table(name = "invoice")
class PlainInvoice implements Billable {

	@Id
	private long id;

	private String status = "OPEN";

	protected PlainInvoice() {
	}

	PlainInvoice(long id) {
		this.id = id;
	}

	long getId() {
		return this.id;
	}

	String getStatus() {
		return this.status;
	}

	@Override
	public void setStatus(String status) {
		this.status = status;
	}

}
