package io.github.singletonjob.rows;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;

import io.github.singletonjob.JobRun;
import io.github.singletonjob.fencing.RowFence;
import io.github.singletonjob.fencing.TokenParameterSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Charges an invoice: one row in {@code charge}, and the status of the invoice, in one
 * transaction. The name of a way with {@code -unchecked} leaves the check of the row out.
 */
class Charging {

	private static final String CHARGE = "insert into charge (invoice, token) values (:id, :token)";

	private final JdbcClient jdbc;

	private final Invoices invoices;

	private final EntityManagerFactory entities;

	private final TransactionTemplate transactions;

	private final JobRun run;

	Charging(JdbcClient jdbc, Invoices invoices, EntityManagerFactory entities, PlatformTransactionManager transactions,
			JobRun run) {
		this.jdbc = jdbc;
		this.invoices = invoices;
		this.entities = entities;
		this.transactions = new TransactionTemplate(transactions);
		this.run = run;
	}

	/** At the begin of a run: the entities are read now. */
	Way begin(String name) {
		return switch (name) {
			case "jdbc" -> inTransaction((id) -> RowFence.requireUpdated(update(" and fence <= :token", id)));
			case "jdbc-unchecked" -> inTransaction((id) -> update("", id));
			case "query" -> inTransaction(this.invoices::charge);
			case "query-unchecked" -> inTransaction((id) -> this.invoices.updateUnchecked(id, "CHARGED"));
			case "jpa" -> new Entities<>(Invoice.class);
			case "jpa-unchecked" -> new Entities<>(PlainInvoice.class);
			default -> throw new IllegalArgumentException(name);
		};
	}

	private int update(String check, long id) {
		return this.jdbc.sql("update invoice set status = 'CHARGED', fence = :token where id = :id" + check)
			.paramSource(TokenParameterSource.of(Map.of("id", id)))
			.update();
	}

	private Way inTransaction(LongConsumer update) {
		return (id) -> this.transactions.executeWithoutResult((status) -> {
			this.jdbc.sql(CHARGE).param("id", id).param("token", this.run.token()).update();
			update.accept(id);
		});
	}

	/** Charges one invoice after the other. */
	@FunctionalInterface
	interface Way extends AutoCloseable {

		void one(long id);

		@Override
		default void close() {
		}

	}

	/** One persistence context for the whole run. */
	private final class Entities<T extends Billable> implements Way {

		private final Class<T> type;

		private final EntityManager manager = Charging.this.entities.createEntityManager();

		private final Map<Long, T> read = new HashMap<>();

		private Entities(Class<T> type) {
			this.type = type;
			String ids = "select id from " + type.getSimpleName();
			this.manager.createQuery(ids, Long.class)
				.getResultList()
				.forEach((id) -> this.read.put(id, this.manager.find(type, id)));
		}

		@Override
		public void one(long id) {
			this.manager.getTransaction().begin();
			try {
				this.manager.createNativeQuery(CHARGE)
					.setParameter("id", id)
					.setParameter("token", Charging.this.run.token())
					.executeUpdate();
				T invoice = this.read.get(id);
				// A transaction that was rolled back has detached what was read
				T row = this.manager.contains(invoice) ? invoice : this.manager.find(this.type, id);
				row.setStatus("CHARGED with " + Charging.this.run.token());
				this.manager.getTransaction().commit();
			}
			finally {
				if (this.manager.getTransaction().isActive()) {
					this.manager.getTransaction().rollback();
				}
			}
		}

		@Override
		public void close() {
			this.manager.close();
		}

	}

}
