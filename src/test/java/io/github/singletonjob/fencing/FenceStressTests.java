package io.github.singletonjob.fencing;

import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.RollbackException;
import jakarta.persistence.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Six workers commit under the token that they know, which another thread raises
 * meanwhile. What is visible of older tokens when a raise has returned must be all that
 * there ever will be.
 */
@Timeout(180)
class FenceStressTests {

	private final GuardedDatabase database = new GuardedDatabase();

	private final FenceStress stress = new FenceStress(this.database, 300);

	private final FenceStress control = new FenceStress(this.database, 100);

	@AfterEach
	void close() {
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ" })
	void noStaleRowBecomesVisibleAfterARaiseByJdbc(String isolation) throws Exception {
		assertThat(this.stress.violationsByJdbc(isolation, null)).as(FenceStress.STALE_ROWS).isZero();
		assertThat(this.stress.refusals()).isPositive();
	}

	@Test
	void noStaleRowBecomesVisibleAfterARaiseWithoutATransaction() throws Exception {
		try (HikariDataSource pool = this.stress.pool("TRANSACTION_READ_COMMITTED")) {
			DataSource guarded = FencedDataSources.guard(pool);
			assertThat(this.stress.violations(() -> this.stress.writeByJdbc(guarded, true))).as(FenceStress.STALE_ROWS)
				.isZero();
		}
		assertThat(this.stress.refusals()).isPositive();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ" })
	void noStaleRowBecomesVisibleAfterARaiseByJpa(String isolation) throws Exception {
		try (HikariDataSource pool = this.stress.pool(isolation);
				EntityManagerFactory entityManagers = Jpa.entityManagers(FencedDataSources.guard(pool), Row.class)) {
			assertThat(this.stress.violations(() -> writeByJpa(entityManagers))).as(FenceStress.STALE_ROWS).isZero();
		}
		assertThat(this.stress.refusals()).isPositive();
	}

	/** Without these, which are shorter, the tests above would prove nothing. */
	@ParameterizedTest
	@ValueSource(strings = { "for key share", "" })
	void weakerLocksLetStaleRowsThrough(String lock) throws Exception {
		this.control.slowDownCommits();
		assertThat(this.control.violationsByJdbc("TRANSACTION_READ_COMMITTED", lock)).isPositive();
	}

	@Test
	void withoutAGuardStaleRowsGetThrough() throws Exception {
		try (HikariDataSource pool = this.control.pool("TRANSACTION_READ_COMMITTED")) {
			assertThat(this.control.violations(() -> this.control.writeByJdbc(pool, false))).isPositive();
		}
	}

	private void writeByJpa(EntityManagerFactory entityManagers) {
		long known = this.stress.knownToken();
		try (var scope = CurrentJobRun.open(new FakeRun("billing", known));
				EntityManager entityManager = entityManagers.createEntityManager()) {
			entityManager.getTransaction().begin();
			entityManager.persist(new Row(this.stress.newId(), known));
			entityManager.getTransaction().commit();
		}
		catch (RollbackException ex) {
			assertThat(ex).hasRootCauseInstanceOf(SQLException.class)
				.hasStackTraceContaining(StaleTokenException.class.getName());
			this.stress.refused();
		}
	}

	/**
	 * A row that says under which token it was written.
	 */
	@Entity(name = "Row")
	@Table(name = "invoice")
	static class Row {

		@Id
		private Long id;

		private Long token;

		protected Row() {
		}

		Row(Long id, Long token) {
			this.id = id;
			this.token = token;
		}

		Long getId() {
			return this.id;
		}

		Long getToken() {
			return this.token;
		}

	}

}
