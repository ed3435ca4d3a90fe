package io.github.singletonjob.rows;

import java.util.function.LongFunction;

import jakarta.persistence.EntityManager;

import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes by entities, and in bulk by a query on them.
 */
final class EntityWrites<T extends Billable> implements Writes {

	private final EntityManager entities;

	private final TransactionTemplate transactions;

	private final Class<T> type;

	private final LongFunction<T> constructor;

	EntityWrites(EntityManager entities, TransactionTemplate transactions, Class<T> type, LongFunction<T> constructor) {
		this.entities = entities;
		this.transactions = transactions;
		this.type = type;
		this.constructor = constructor;
	}

	@Override
	public void update(long id, Runnable betweenReadAndWrite) {
		this.transactions.executeWithoutResult((status) -> {
			T row = this.entities.find(this.type, id);
			betweenReadAndWrite.run();
			row.setStatus("STALE");
		});
	}

	@Override
	public void updateAll() {
		this.transactions.executeWithoutResult(
				(status) -> this.entities.createQuery("update " + this.type.getSimpleName() + " set status = 'STALE'")
					.executeUpdate());
	}

	@Override
	public void delete(long id) {
		this.transactions.executeWithoutResult((status) -> this.entities.remove(this.entities.find(this.type, id)));
	}

	@Override
	public void insert(long id) {
		this.transactions.executeWithoutResult((status) -> this.entities.persist(this.constructor.apply(id)));
	}

}
