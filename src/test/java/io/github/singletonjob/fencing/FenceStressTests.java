package io.github.singletonjob.fencing;

import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

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
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Six workers commit under the token that they know, which another thread raises
 * meanwhile. What is visible of older tokens when a raise has returned must be all that
 * there ever will be.
 */
@Timeout(180)
class FenceStressTests {

	private static final int TRIES_OF_A_CONTROL = 5;

	private static final String READ_COMMITTED = "TRANSACTION_READ_COMMITTED";

	private static final String REPEATABLE_READ = "TRANSACTION_REPEATABLE_READ";

	private static final String SERIALIZABLE = "TRANSACTION_SERIALIZABLE";

	private final GuardedDatabase database = new GuardedDatabase();

	private final FenceStress stress = new FenceStress(this.database, 300);

	private final FenceStress control = new FenceStress(this.database, 100);

	@AfterEach
	void close() {
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE })
	void noStaleRowBecomesVisibleAfterARaiseByJdbc(String isolation) throws Exception {
		this.stress.slowDownCommits();
		if (!isolation.equals(READ_COMMITTED)) {
			this.stress.slowDownStatements();
		}
		assertThat(this.stress.violationsByJdbc(isolation)).as(FenceStress.STALE_ROWS).isZero();
		assertThat(this.stress.refusals()).isPositive();
	}

	@Test
	void noStaleRowBecomesVisibleAfterARaiseBySimpleQueries() throws Exception {
		try (GuardedDatabase simple = new GuardedDatabase(this.database.url() + "?preferQueryMode=simple", (config) -> {
		}, FencingSettings.defaults())) {
			FenceStress stress = new FenceStress(simple, 100);
			stress.slowDownCommits();
			assertThat(stress.violationsByJdbc(READ_COMMITTED)).as(FenceStress.STALE_ROWS).isZero();
			assertThat(stress.refusals()).isPositive();
		}
	}

	@Test
	void noStaleRowBecomesVisibleAfterARaiseWithoutATransaction() throws Exception {
		try (HikariDataSource pool = this.stress.pool(READ_COMMITTED)) {
			DataSource guarded = FencedDataSources.guard(pool);
			assertThat(this.stress.violations(() -> this.stress.writeByJdbc(guarded, true))).as(FenceStress.STALE_ROWS)
				.isZero();
		}
		assertThat(this.stress.refusals()).isPositive();
	}

	@ParameterizedTest
	@ValueSource(strings = { READ_COMMITTED, REPEATABLE_READ })
	void noStaleRowBecomesVisibleAfterARaiseByJpa(String isolation) throws Exception {
		try (HikariDataSource pool = this.stress.pool(isolation);
				EntityManagerFactory entityManagers = Jpa.entityManagers(FencedDataSources.guard(pool), Row.class)) {
			assertThat(this.stress.violations(() -> writeByJpa(entityManagers))).as(FenceStress.STALE_ROWS).isZero();
		}
		assertThat(this.stress.refusals()).isPositive();
	}

	/** Without these, which are shorter, the tests above would prove nothing. */
	@ParameterizedTest
	@MethodSource("weakerChecks")
	void aWeakerCheckLetsStaleRowsThrough(String isolation, String what, UnaryOperator<String> weaken)
			throws Exception {
		this.control.slowDownCommits();
		if (!isolation.equals(READ_COMMITTED)) {
			this.control.slowDownStatements();
		}
		requireDamage(what, () -> this.control.violationsByJdbc(isolation, changing(weaken)));
	}

	static Stream<Arguments> weakerChecks() {
		UnaryOperator<String> oneStatement = (sql) -> sql.replaceFirst("; (/\\*.*?\\*/) select where", " or");
		UnaryOperator<String> noLock = (sql) -> sql.replace("pg_catalog.pg_advisory_xact_lock_shared(?)",
				"abs(?::bigint)");
		UnaryOperator<String> noLockingRead = (sql) -> sql.replaceFirst(" or [^ ]*_stands_at\\([^)]*\\)", " or true");
		return Stream.of(arguments(READ_COMMITTED, "one statement that locks and checks", oneStatement),
				arguments(READ_COMMITTED, "no lock", noLock),
				arguments(REPEATABLE_READ, "no locking read", noLockingRead),
				arguments(SERIALIZABLE, "no locking read", noLockingRead));
	}

	private static UnaryOperator<String> changing(UnaryOperator<String> weaken) {
		return (sql) -> {
			String changed = weaken.apply(sql);
			assertThat(changed).isNotEqualTo(sql);
			return changed;
		};
	}

	@Test
	void aRaiseWithoutItsLockLetsStaleRowsThrough() throws Exception {
		this.control.slowDownCommits();
		this.control.raiseWithoutItsLock();
		requireDamage("a raise without its lock", () -> this.control.violationsByJdbc(READ_COMMITTED));
	}

	@Test
	void withoutAGuardStaleRowsGetThrough() throws Exception {
		try (HikariDataSource pool = this.control.pool(READ_COMMITTED)) {
			requireDamage("no guard", () -> this.control.violations(() -> this.control.writeByJdbc(pool, false)));
		}
	}

	/** A control that shows nothing by chance tries again. */
	private static void requireDamage(String what, Callable<? extends Number> violations) throws Exception {
		for (int attempt = 1; attempt <= TRIES_OF_A_CONTROL; attempt++) {
			if (violations.call().longValue() > 0) {
				return;
			}
		}
		throw new AssertionError("No stale row got through in " + TRIES_OF_A_CONTROL + " tries with " + what);
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
