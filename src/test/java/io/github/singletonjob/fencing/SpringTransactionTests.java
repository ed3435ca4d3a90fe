package io.github.singletonjob.fencing;

import java.util.List;
import java.util.function.Supplier;

import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Transactions that Spring and JPA begin and commit for a run.
 */
@Timeout(120)
class SpringTransactionTests {

	private final GuardedDatabase database = new GuardedDatabase();

	private final JdbcClient client = JdbcClient.create(this.database.guarded());

	private final FakeRun run = this.database.begin("billing", 33);

	private EntityManagerFactory entityManagers;

	@AfterEach
	void close() {
		if (this.entityManagers != null) {
			this.entityManagers.close();
		}
		this.database.close();
	}

	@Test
	void dataSourceTransactionManager() {
		assertFenced(new DataSourceTransactionManager(this.database.guarded()), this::insertByJdbc);
	}

	@Test
	void jdbcTransactionManager() {
		assertFenced(new JdbcTransactionManager(this.database.guarded()), this::insertByJdbc);
	}

	@Test
	void jpaTransactionManagerWithEntities() {
		EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(entityManagers());
		assertFenced(new JpaTransactionManager(entityManagers()), (id) -> {
			entityManager.persist(new Invoice(id));
			return null;
		});
	}

	@Test
	void jpaTransactionManagerWithBulkStatements() {
		EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(entityManagers());
		assertFenced(new JpaTransactionManager(entityManagers()),
				(id) -> entityManager.createQuery("insert into Invoice (id, token) values (:id, 1)")
					.setParameter("id", id)
					.executeUpdate());
	}

	@Test
	void jpaTransactionManagerWithJdbc() {
		assertFenced(new JpaTransactionManager(entityManagers()), this::insertByJdbc);
	}

	private void assertFenced(PlatformTransactionManager transactions, Insert insert) {
		TransactionTemplate template = new TransactionTemplate(transactions);
		try (var scope = CurrentJobRun.open(this.run)) {
			template.executeWithoutResult((status) -> insert.row(1L));
			this.database.begin("billing", 34);
			assertRefused(() -> template.execute((status) -> insert.row(2L)));
			assertThat(this.run.refusal()).isNotNull();
			assertRefused(() -> template.execute((status) -> insert.row(3L)));
		}
		assertWritten(1L);
		// The connection went back to its pool as it was
		template.executeWithoutResult((status) -> insert.row(4L));
		insertByJdbc(5L);
		assertWritten(1L, 4L, 5L);
	}

	@Test
	void aTransactionInsideATransactionIsFencedByItself() {
		try (var two = new GuardedDatabase(this.database.url(), (config) -> config.setMaximumPoolSize(2),
				FencingSettings.defaults())) {
			JdbcTransactionManager transactions = new JdbcTransactionManager(two.guarded());
			TransactionTemplate outer = new TransactionTemplate(transactions);
			TransactionTemplate inner = new TransactionTemplate(transactions);
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			JdbcClient jdbc = JdbcClient.create(two.guarded());
			try (var scope = CurrentJobRun.open(this.run)) {
				assertRefused(() -> outer.execute((outerStatus) -> {
					inner.execute((status) -> jdbc.sql("insert into invoice values (1)").update());
					this.database.begin("billing", 34);
					return jdbc.sql("insert into invoice values (2)").update();
				}));
			}
		}
		assertWritten(1L);
	}

	@Test
	void aReadOnlyTransaction() {
		TransactionTemplate template = new TransactionTemplate(new JdbcTransactionManager(this.database.guarded()));
		template.setReadOnly(true);
		try (var scope = CurrentJobRun.open(this.run)) {
			assertThat(template
				.<Long>execute((status) -> this.client.sql("select count(*) from invoice").query(Long.class).single()))
				.isZero();
			assertThatException().isThrownBy(() -> template.execute((status) -> insertByJdbc(1L)))
				.withMessageContaining("read-only transaction");
		}
		assertWritten();
	}

	@Test
	void aPlainEntityManager() {
		try (var scope = CurrentJobRun.open(this.run);
				EntityManager entityManager = entityManagers().createEntityManager()) {
			entityManager.getTransaction().begin();
			entityManager.persist(new Invoice(1L));
			entityManager.getTransaction().commit();
			this.database.begin("billing", 34);
			entityManager.getTransaction().begin();
			entityManager.persist(new Invoice(2L));
			assertRefused(() -> {
				entityManager.getTransaction().commit();
				return null;
			});
		}
		assertWritten(1L);
	}

	private Object insertByJdbc(Long id) {
		return this.client.sql("insert into invoice values (?)").param(id).update();
	}

	private static void assertRefused(Supplier<?> call) {
		Throwable refusal = catchThrowable(call::get);
		while (refusal != null && !(refusal instanceof StaleTokenException)
				&& !(refusal instanceof LeaseLostException)) {
			refusal = refusal.getCause();
		}
		assertThat(refusal).as("refusal among the causes").isNotNull();
	}

	private void assertWritten(Long... ids) {
		List<Long> written = this.database.outside().sql("select id from invoice order by id").query(Long.class).list();
		assertThat(written).containsExactly(ids);
	}

	private EntityManagerFactory entityManagers() {
		if (this.entityManagers == null) {
			this.entityManagers = Jpa.entityManagers(this.database.guarded(), Invoice.class);
		}
		return this.entityManagers;
	}

	@FunctionalInterface
	private interface Insert {

		Object row(Long id);

	}

	/**
	 * A row that is guarded.
	 */
	@Entity(name = "Invoice")
	@Table(name = "invoice")
	static class Invoice {

		@Id
		private Long id;

		private Long token;

		protected Invoice() {
		}

		Invoice(Long id) {
			this.id = id;
		}

		Long getId() {
			return this.id;
		}

		Long getToken() {
			return this.token;
		}

	}

}
