package io.github.singletonjob.rows;

import io.github.singletonjob.fencing.RowFence;

import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes by queries of a Spring Data repository that compare the token, or do not.
 */
final class QueryWrites implements Writes {

	private final Invoices invoices;

	private final TransactionTemplate transactions;

	private final boolean checked;

	QueryWrites(Invoices invoices, TransactionTemplate transactions, boolean checked) {
		this.invoices = invoices;
		this.transactions = transactions;
		this.checked = checked;
	}

	@Override
	public void update(long id, Runnable betweenReadAndWrite) {
		this.transactions.executeWithoutResult((status) -> {
			long read = this.invoices.countByStatus("OPEN");
			betweenReadAndWrite.run();
			String result = (read >= 0) ? "STALE" : "NEVER";
			RowFence.requireUpdated(
					this.checked ? this.invoices.update(id, result) : this.invoices.updateUnchecked(id, result));
		});
	}

	@Override
	public void updateAll() {
		this.transactions.executeWithoutResult((status) -> RowFence
			.requireUpdated(this.checked ? this.invoices.updateAll() : this.invoices.updateAllUnchecked()));
	}

	@Override
	public void delete(long id) {
		this.transactions.executeWithoutResult((status) -> RowFence
			.requireUpdated(this.checked ? this.invoices.delete(id) : this.invoices.deleteUnchecked(id)));
	}

	@Override
	public void insert(long id) {
		this.transactions.executeWithoutResult((status) -> this.invoices.insert(id));
	}

}
