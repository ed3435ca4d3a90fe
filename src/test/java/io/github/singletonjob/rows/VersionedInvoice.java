package io.github.singletonjob.rows;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;

/**
 * The same row with a version only: an ordinary entity.
 */
@Entity
@Table(name = "invoice")
class VersionedInvoice implements Billable {

	@Id
	private long id;

	private String status = "OPEN";

	@Version
	private long version;

	protected VersionedInvoice() {
	}

	VersionedInvoice(long id) {
		this.id = id;
	}

	long getId() {
		return this.id;
	}

	long getVersion() {
		return this.version;
	}

	String getStatus() {
		return this.status;
	}

	@Override
	public void setStatus(String status) {
		this.status = status;
	}

}
