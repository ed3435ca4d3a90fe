package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.Fence.Raised;
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

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Six workers commit under the token that they know, which another thread raises
 * meanwhile. What is visible of older tokens when a raise has returned must be all that
 * there ever will be.
 */
@Timeout(180)
class FenceStressTests {

	private static final int WORKERS = 6;

	private static final int RAISES = 300;

	private final GuardedDatabase database = new GuardedDatabase();

	private final AtomicLong token = new AtomicLong(1);

	private final AtomicLong ids = new AtomicLong();

	private final AtomicLong refusals = new AtomicLong();

	private volatile boolean over;

	@AfterEach
	void close() {
		this.database.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ" })
	void noStaleRowBecomesVisibleAfterARaiseByJdbc(String isolation) throws Exception {
		assertThat(violationsByJdbc(isolation, "for share")).isZero();
		assertThat(this.refusals).hasPositiveValue();
	}

	@Test
	void noStaleRowBecomesVisibleAfterARaiseWithoutATransaction() throws Exception {
		try (HikariDataSource pool = pool("TRANSACTION_READ_COMMITTED")) {
			DataSource guarded = FencedDataSources.guard(pool);
			assertThat(violations(() -> writeByJdbc(guarded, true))).isZero();
		}
		assertThat(this.refusals).hasPositiveValue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ" })
	void noStaleRowBecomesVisibleAfterARaiseByJpa(String isolation) throws Exception {
		try (HikariDataSource pool = pool(isolation);
				EntityManagerFactory entityManagers = Jpa.entityManagers(FencedDataSources.guard(pool), Row.class)) {
			assertThat(violations(() -> writeByJpa(entityManagers))).isZero();
		}
		assertThat(this.refusals).hasPositiveValue();
	}

	/** Without these the tests above would prove nothing. */
	@ParameterizedTest
	@ValueSource(strings = { "for key share", "" })
	void weakerLocksLetStaleRowsThrough(String lock) throws Exception {
		assertThat(violationsByJdbc("TRANSACTION_READ_COMMITTED", lock)).isPositive();
	}

	@Test
	void withoutAGuardStaleRowsGetThrough() throws Exception {
		try (HikariDataSource pool = pool("TRANSACTION_READ_COMMITTED")) {
			assertThat(violations(() -> writeByJdbc(pool, false))).isPositive();
		}
	}

	private int violationsByJdbc(String isolation, String lock) throws Exception {
		try (HikariDataSource pool = pool(isolation)) {
			var guarded = FencedDataSources.guard(pool, FencingSettings.defaults(),
					new FenceCheck(new FenceTable(), lock));
			return violations(() -> writeByJdbc(guarded, false));
		}
	}

	private HikariDataSource pool(String isolation) {
		return this.database.pool((config) -> {
			config.setMaximumPoolSize(WORKERS);
			config.setTransactionIsolation(isolation);
		});
	}

	private int violations(Writer writer) throws Exception {
		this.database.begin("billing", 1);
		ExecutorService executor = Executors.newFixedThreadPool(WORKERS);
		try {
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < WORKERS; i++) {
				workers.add(executor.submit(() -> {
					while (!this.over) {
						writer.write();
					}
					return null;
				}));
			}
			List<Long> visible = raise();
			for (Future<?> worker : workers) {
				worker.get();
			}
			return countViolations(visible);
		}
		finally {
			this.over = true;
			executor.shutdownNow();
		}
	}

	/** Raises again and again, and looks each time at what is there of older tokens. */
	private List<Long> raise() throws SQLException {
		List<Long> visible = new ArrayList<>();
		try (Connection connection = this.database.plain().getConnection();
				var count = connection.prepareStatement("select count(*) from invoice where token < ?")) {
			JdbcFence fence = new JdbcFence(new SingleConnectionDataSource(connection, true));
			for (long raised = 2; raised < 2 + RAISES; raised++) {
				FakeRun run = new FakeRun("billing", raised);
				assertThat(fence.raise(run.grant(), "raiser", GuardedDatabase.TIMEOUT)).isInstanceOf(Raised.class);
				count.setLong(1, raised);
				visible.add(count(count));
				this.token.set(raised);
			}
		}
		finally {
			this.over = true;
		}
		return visible;
	}

	private static long count(PreparedStatement statement) throws SQLException {
		try (var result = statement.executeQuery()) {
			result.next();
			return result.getLong(1);
		}
	}

	private int countViolations(List<Long> visible) {
		int violations = 0;
		for (int i = 0; i < visible.size(); i++) {
			long now = this.database.outside()
				.sql("select count(*) from invoice where token < ?")
				.param(i + 2)
				.query(Long.class)
				.single();
			violations += (now != visible.get(i)) ? 1 : 0;
		}
		return violations;
	}

	private void writeByJdbc(DataSource dataSource, boolean autoCommit) throws SQLException {
		long known = this.token.get();
		try (var scope = CurrentJobRun.open(new FakeRun("billing", known));
				Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(autoCommit);
			try (var statement = connection.prepareStatement("insert into invoice values (?, ?)")) {
				statement.setLong(1, this.ids.incrementAndGet());
				statement.setLong(2, known);
				statement.executeUpdate();
			}
			if (!autoCommit) {
				connection.commit();
			}
		}
		catch (StaleTokenException ex) {
			this.refusals.incrementAndGet();
		}
	}

	private void writeByJpa(EntityManagerFactory entityManagers) {
		long known = this.token.get();
		try (var scope = CurrentJobRun.open(new FakeRun("billing", known));
				EntityManager entityManager = entityManagers.createEntityManager()) {
			entityManager.getTransaction().begin();
			entityManager.persist(new Row(this.ids.incrementAndGet(), known));
			entityManager.getTransaction().commit();
		}
		catch (RollbackException ex) {
			assertThat(ex).hasRootCauseInstanceOf(SQLException.class)
				.hasStackTraceContaining(StaleTokenException.class.getName());
			this.refusals.incrementAndGet();
		}
	}

	@FunctionalInterface
	private interface Writer {

		void write() throws SQLException;

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
