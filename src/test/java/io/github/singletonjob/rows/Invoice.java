package io.github.singletonjob.rows;

import io.github.singletonjob.jpa.FencingToken;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;

/**
 * A row that is guarded by its attribute.
 */
@Entity
@Table(name = "invoice")
class Invoice implements Billable {

	@Id
	private long id;

	private String status = "OPEN";

	@Version
	private long version;

	@FencingToken
	@Column(nullable = false)
	private long fence;

	protected Invoice() {
	}

	Invoice(long id) {
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

	long getVersion() {
		return this.version;
	}

	long getFence() {
		return this.fence;
	}

	/** As code does that gets an entity from elsewhere. */
	void setFence(long fence) {
		this.fence = fence;
	}

}
