package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.HikariDataSourcePoolMetadata;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Guarding data sources of many kinds.
 */
@Timeout(60)
class FencedDataSourcesTests {

	private final GuardedDatabase database = new GuardedDatabase();

	private final FakeRun stale = this.database.begin("billing", 33);

	FencedDataSourcesTests() {
		this.database.begin("billing", 34);
	}

	@AfterEach
	void close() {
		this.database.close();
	}

	@Test
	void aPoolStaysWhatItIs() {
		DataSource guarded = this.database.guarded();
		assertThat(guarded).isInstanceOf(HikariDataSource.class);
		assertThat(((HikariDataSource) guarded).getMaximumPoolSize()).isEqualTo(1);
		assertThat(((HikariDataSource) guarded).getJdbcUrl()).isEqualTo(this.database.url());
	}

	@Test
	void aPoolThatIsUnwrappedIsFenced() throws SQLException {
		HikariDataSource pool = this.database.guarded().unwrap(HikariDataSource.class);
		assertFenced(pool);
	}

	@Test
	void bootsPoolMetricsWork() throws SQLException {
		HikariDataSource pool = DataSourceUnwrapper.unwrap(this.database.guarded(), HikariConfigMXBean.class,
				HikariDataSource.class);
		try (Connection connection = this.database.guarded().getConnection()) {
			assertThat(connection.isValid(1)).isTrue();
			assertThat(new HikariDataSourcePoolMetadata(pool).getActive()).isEqualTo(1);
		}
		assertThat(new HikariDataSourcePoolMetadata(pool).getActive()).isZero();
		assertThat(new HikariDataSourcePoolMetadata(pool).getMax()).isEqualTo(1);
	}

	@Test
	void closingTheGuardedPoolClosesThePool() {
		((HikariDataSource) this.database.guarded()).close();
		assertThat(this.database.pool().isClosed()).isTrue();
	}

	@Test
	void guardsAreFoundThroughOtherLayers() {
		DataSource guarded = this.database.guarded();
		assertThat(FencedDataSources.isGuarded(guarded)).isTrue();
		assertThat(FencedDataSources.isGuarded(new DelegatingDataSource(guarded))).isTrue();
		assertThat(FencedDataSources.isGuarded(new DelegatingDataSource(new TransactionAwareDataSourceProxy(guarded))))
			.isTrue();
		assertThat(FencedDataSources.isGuarded((DataSource) new ProxyFactory(guarded).getProxy())).isTrue();
		assertThat(FencedDataSources.isGuarded(this.database.pool())).isFalse();
		assertThat(FencedDataSources.isGuarded(new DelegatingDataSource(this.database.pool()))).isFalse();
	}

	@Test
	void nothingIsGuardedTwice() throws SQLException {
		DataSource guarded = this.database.guarded();
		assertThat(FencedDataSources.guard(guarded)).isSameAs(guarded);
		try (HikariDataSource above = new HikariDataSource()) {
			above.setDataSource(guarded);
			above.setMaximumPoolSize(1);
			assertFenced(FencedDataSources.guard(above));
		}
	}

	@Test
	void aDataSourceWithoutAPoolIsFenced() throws SQLException {
		DataSource guarded = FencedDataSources.guard(this.database.plain());
		assertThat(guarded).isInstanceOf(DriverManagerDataSource.class);
		assertFenced(guarded);
	}

	@Test
	void aDataSourceThatCannotBeExtendedIsFencedByItsInterface() throws SQLException {
		final class Closed extends DelegatingDataSource {

			Closed(DataSource target) {
				super(target);
			}

		}
		assertFenced(FencedDataSources.guard(new Closed(this.database.plain())));
	}

	@Test
	void lazyConnectionsAreFencedOnEitherSide() throws SQLException {
		assertFenced(FencedDataSources.guard(new LazyConnectionDataSourceProxy(this.database.plain())));
		assertFenced(new LazyConnectionDataSourceProxy(FencedDataSources.guard(this.database.plain())));
	}

	@Test
	void theFenceIsRaisedPastTheGuard() {
		FakeRun next = new FakeRun("billing", 35);
		// Inside a run, whose transactions would be fenced
		try (var scope = CurrentJobRun.open(this.stale)) {
			new JdbcFence(new DelegatingDataSource(this.database.guarded())).raise(next.grant(), "c",
					GuardedDatabase.TIMEOUT);
		}
		assertThat(this.database.outside().sql("select token from singleton_job").query(Long.class).single())
			.isEqualTo(35);
	}

	private void assertFenced(DataSource dataSource) throws SQLException {
		FakeRun run = new FakeRun("billing", 33);
		try (var scope = CurrentJobRun.open(run); Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, 1);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(connection::commit);
			connection.rollback();
			connection.setAutoCommit(true);
		}
		assertThat(this.database.invoices()).isZero();
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, 1);
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

}
