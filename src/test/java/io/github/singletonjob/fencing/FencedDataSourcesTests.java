package io.github.singletonjob.fencing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.StaleTokenException;
import io.github.singletonjob.lease.LeaseStoreException;
import io.github.singletonjob.servers.PostgresServer;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import org.apache.commons.dbcp2.managed.BasicManagedDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.HikariDataSourcePoolMetadata;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.github.singletonjob.fencing.GuardedDatabase.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Guarding data sources of many kinds.
 */
@Timeout(60)
class FencedDataSourcesTests {

	private static final String COUNT = "select count(*) from invoice";

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
	void theGuardIsAroundThePoolBelowAllLayersThatAreKnown() {
		TransactionAwareDataSourceProxy layer = new TransactionAwareDataSourceProxy(
				new LazyConnectionDataSourceProxy(this.database.pool()));
		assertThat(FencedDataSources.guard(layer)).isSameAs(layer);
		assertThat(((DelegatingDataSource) layer.getTargetDataSource()).getTargetDataSource())
			.isInstanceOf(HikariDataSource.class)
			.isNotSameAs(this.database.pool())
			.matches(FencedDataSources::isGuarded);
	}

	@Test
	void anAopProxyIsLookedThrough() throws SQLException {
		ProxyFactory factory = new ProxyFactory(this.database.pool());
		factory.setProxyTargetClass(true);
		DataSource proxy = (DataSource) factory.getProxy();
		assertThat(FencedDataSources.guard(proxy)).isSameAs(proxy);
		assertFenced(proxy);
	}

	@Test
	void anAopProxyThatCannotBeChangedIsGuarded() throws SQLException {
		ProxyFactory frozen = new ProxyFactory(this.database.pool());
		frozen.setFrozen(true);
		assertFenced(FencedDataSources.guard((DataSource) frozen.getProxy()));
		ProxyFactory opaque = new ProxyFactory(this.database.pool());
		opaque.setOpaque(true);
		assertFenced(FencedDataSources.guard((DataSource) opaque.getProxy()));
		HotSwappableTargetSource swappable = new HotSwappableTargetSource(this.database.pool());
		assertFenced(FencedDataSources.guard(ProxyFactory.getProxy(DataSource.class, swappable)));
	}

	@Test
	void theReadOnlyPoolOfALazyDataSourceIsGuarded() throws SQLException {
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy(this.database.plain());
		lazy.setReadOnlyDataSource(this.database.pool());
		FencedDataSources.guard(lazy);
		try (var scope = CurrentJobRun.open(this.stale); Connection connection = lazy.getConnection()) {
			connection.setReadOnly(true);
			connection.setAutoCommit(false);
			try (var statement = connection.createStatement()) {
				statement.execute("set transaction read write");
			}
			insert(connection, 1);
			assertThatException().isThrownBy(connection::commit);
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void allRoutesAreGuarded() throws SQLException {
		Routing routing = new Routing(this.database.pool(), this.database.plain());
		DataSource guarded = FencedDataSources.guard(routing);
		assertThat(routing.getResolvedDefaultDataSource()).matches(FencedDataSources::isGuarded);
		assertThat(routing.getResolvedDataSources().values()).allMatch(FencedDataSources::isGuarded);
		assertFenced(guarded);
		routing.key = "other";
		assertFenced(guarded);
	}

	@Test
	void aRouteThatIsAddedLaterIsFenced() throws SQLException {
		Routing routing = new Routing(this.database.plain(), this.database.plain());
		DataSource guarded = FencedDataSources.guard(routing);
		routing.later = this.database.pool();
		assertFenced(guarded);
	}

	@Test
	void aRunCannotWriteToAnotherDatabaseOfTheRoutes() throws SQLException {
		try (var other = new GuardedDatabase()) {
			Routing routing = new Routing(this.database.pool(), other.pool());
			DataSource guarded = FencedDataSources.guard(routing);
			new FenceSchema(guarded).verify();
			FakeRun healthy = this.database.begin("billing", 35);
			try (var scope = CurrentJobRun.open(healthy)) {
				writeTo(guarded);
				routing.key = "other";
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> writeTo(guarded))
					.withMessageStartingWith("billing: a transaction was rolled back")
					.withMessageContaining("on another database than the fence of the run");
				other.outside().sql("drop table singleton_job cascade").update();
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> writeTo(guarded))
					.withMessageContaining("on another database than the fence of the run");
				assertThat(healthy.refusal()).as("what would have made it lost").isNull();
				routing.key = null;
				writeToAgain(guarded);
			}
			assertThat(other.invoices()).isZero();
			assertThat(this.database.invoices()).isEqualTo(2);
		}
	}

	/** It may have connections of other pools; those of its target are guarded below. */
	@Test
	void aLayerOfTheApplicationsOwnIsGuardedAlsoAboveAGuardedPool() throws SQLException {
		DataSource[] other = new DataSource[1];
		DelegatingDataSource layer = new DelegatingDataSource(this.database.pool()) {
			@Override
			public Connection getConnection() throws SQLException {
				return (other[0] != null) ? other[0].getConnection() : super.getConnection();
			}
		};
		DataSource guarded = FencedDataSources.guard(layer);
		assertFenced(guarded);
		other[0] = this.database.plain();
		assertFenced(guarded);
	}

	@Test
	void aLayerThatHidesTheGuardOfItsConnectionsWorks() throws SQLException {
		DataSource guarded = FencedDataSources.guard(new HidingDataSource(this.database.guarded()));
		assertFenced(guarded);
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy)) {
			write(guarded, 1);
			new JdbcTemplate(guarded).update("insert into invoice values (2)");
		}
		assertThat(this.database.invoices()).isEqualTo(2);
	}

	/** Does not answer what its connections are wrappers for. */
	private static final class HidingDataSource extends AbstractDataSource {

		private final DataSource pool;

		HidingDataSource(DataSource pool) {
			this.pool = pool;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = this.pool.getConnection();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, args) -> {
						if (method.getName().equals("isWrapperFor")) {
							return false;
						}
						try {
							return method.invoke(connection, args);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	@Test
	void aRunWritesToTheDatabaseToWhichItsThreadIsRouted() throws SQLException {
		try (var other = new GuardedDatabase()) {
			Routing routing = new Routing(this.database.pool(), other.pool());
			DataSource guarded = FencedDataSources.guard(routing);
			JdbcFence fence = new JdbcFence(guarded);
			FakeRun ofTenant = new FakeRun("billing-other", 35);
			routing.key = "other";
			fence.raise(ofTenant.grant(), "c", GuardedDatabase.TIMEOUT);
			try (var scope = CurrentJobRun.open(ofTenant)) {
				writeTo(guarded);
				fence.raise(new FakeRun("billing-other", 36).grant(), "d", GuardedDatabase.TIMEOUT);
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> writeToAgain(guarded));
			}
			assertThat(other.invoices()).isEqualTo(1);
		}
	}

	@Test
	void aReplicaThatIsBehindCanBeReadInARun() throws SQLException {
		try (PostgresServer primary = PostgresServer.create().start();
				PostgresServer replica = primary.startReplica(primary.port());
				var database = new GuardedDatabase(primary.jdbcUrl(), (config) -> {
				}, FencingSettings.defaults())) {
			DataSource copy = new DriverManagerDataSource(replica.jdbcUrl(), PostgresServer.USERNAME, "any");
			JdbcTemplate outside = new JdbcTemplate(copy);
			Awaitility.await()
				.ignoreExceptions()
				.untilAsserted(() -> assertThat(outside.queryForObject(COUNT, Long.class)).isZero());
			outside.execute("select pg_wal_replay_pause()");
			Routing routing = new Routing(database.pool(), copy);
			DataSource guarded = FencedDataSources.guard(routing);
			try (var scope = CurrentJobRun.open(database.begin("billing", 35))) {
				writeTo(guarded);
				routing.key = "other";
				assertThat(new JdbcTemplate(guarded).queryForObject(COUNT, Long.class)).isZero();
				assertThat(new TransactionTemplate(new JdbcTransactionManager(guarded))
					.<Long>execute((status) -> new JdbcTemplate(guarded).queryForObject(COUNT, Long.class))).isZero();
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> writeToAgain(guarded))
					.withMessageContaining("read-only transaction");
			}
			assertThat(database.invoices()).isEqualTo(1);
		}
	}

	private static void writeTo(DataSource dataSource) throws SQLException {
		write(dataSource, 1);
	}

	private static void writeToAgain(DataSource dataSource) throws SQLException {
		write(dataSource, 2);
	}

	private static void write(DataSource dataSource, long id) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, id);
			connection.commit();
		}
	}

	/** Several tenants in databases of their own, say. */
	private static final class Routing extends AbstractRoutingDataSource {

		private Object key;

		private DataSource later;

		Routing(DataSource byDefault, DataSource other) {
			setDefaultTargetDataSource(byDefault);
			setTargetDataSources(Map.of("main", byDefault, "other", other));
			afterPropertiesSet();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			return this.key;
		}

		@Override
		protected DataSource determineTargetDataSource() {
			return (this.later != null) ? this.later : super.determineTargetDataSource();
		}

	}

	/**
	 * Closing a connection of such a layer ends nothing: JdbcTemplate does it after each
	 * statement of a transaction.
	 */
	@Test
	void aLayerThatJoinsTransactionsLosesNothingAlsoIfItIsNotKnown() {
		DataSource layer = FencedDataSources.guard(new JoiningDataSource(this.database.pool()));
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.database.pool());
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy)) {
			inTransaction(transactions, layer);
		}
		assertThat(this.database.invoices()).isEqualTo(2);
	}

	@Test
	void aLayerThatJoinsTransactionsLetsNoStaleOneCommitAlsoIfItIsNotKnown() {
		DataSource layer = FencedDataSources.guard(new JoiningDataSource(this.database.pool()));
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.database.pool());
		try (var scope = CurrentJobRun.open(this.stale)) {
			assertThatException().isThrownBy(() -> inTransaction(transactions, layer));
		}
		assertThat(this.stale.refusal()).isNotNull();
		assertThat(this.database.invoices()).isZero();
		FakeRun over = this.database.begin("billing", 35).close("cancelled");
		try (var scope = CurrentJobRun.open(over)) {
			assertThatException().isThrownBy(() -> inTransaction(transactions, layer));
		}
		assertThat(this.database.invoices()).isZero();
	}

	/** As a pool does that enlists its connections in JTA transactions. */
	@Test
	void aLayerThatJoinsTransactionsWithTheFirstStatementLosesNothing() {
		DataSource layer = FencedDataSources.guard(new JoiningDataSource(this.database.pool(), true));
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.database.pool());
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy)) {
			inTransaction(transactions, layer);
		}
		assertThat(this.database.invoices()).isEqualTo(2);
		this.database.begin("billing", 36);
		try (var scope = CurrentJobRun.open(healthy)) {
			assertThatException().isThrownBy(() -> inTransaction(transactions, layer, 3, 4));
		}
		assertThat(this.database.invoices()).isEqualTo(2);
	}

	@Test
	void aLayerThatJoinsTransactionsOfAnotherDatabaseIsNotSilent() {
		try (var other = new GuardedDatabase()) {
			DataSource layer = FencedDataSources.guard(new JoiningDataSource(other.pool()));
			JdbcTransactionManager transactions = new JdbcTransactionManager(other.pool());
			try (var scope = CurrentJobRun.open(this.database.begin("billing", 35))) {
				assertThatException().isThrownBy(() -> inTransaction(transactions, layer));
			}
			assertThat(other.invoices()).isZero();
		}
	}

	/** The check has locked the row of the fence, until the transaction ends. */
	@Test
	void aNewerRunBeginsAfterATransactionThatALayerHasJoined() {
		DataSource layer = FencedDataSources.guard(new JoiningDataSource(this.database.pool()));
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.database.pool());
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy)) {
			new TransactionTemplate(transactions).executeWithoutResult((status) -> {
				try (Connection connection = layer.getConnection()) {
					insert(connection, 1);
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
				assertThatExceptionOfType(LeaseStoreException.class)
					.isThrownBy(() -> new JdbcFence(this.database.plain()).raise(new FakeRun("billing", 36).grant(),
							"c", Duration.ofSeconds(1)));
			});
		}
		assertThat(this.database.invoices()).isEqualTo(1);
		assertThat(this.database.begin("billing", 36).refusal()).isNull();
	}

	private static void inTransaction(JdbcTransactionManager transactions, DataSource layer) {
		inTransaction(transactions, layer, 1, 2);
	}

	private static void inTransaction(JdbcTransactionManager transactions, DataSource layer, int first, int second) {
		JdbcTemplate jdbc = new JdbcTemplate(layer);
		new TransactionTemplate(transactions).executeWithoutResult((status) -> {
			jdbc.update("insert into invoice values (?)", first);
			jdbc.update("insert into invoice values (?)", second);
		});
	}

	/**
	 * Hands out the connection of Spring's transaction, as a class of the application may
	 * do it.
	 */
	private static final class JoiningDataSource extends AbstractDataSource {

		private final DataSource pool;

		private final boolean late;

		JoiningDataSource(DataSource pool) {
			this(pool, false);
		}

		JoiningDataSource(DataSource pool, boolean late) {
			this.pool = pool;
			this.late = late;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = DataSourceUtils.doGetConnection(this.pool);
			AtomicBoolean joined = new AtomicBoolean(!this.late);
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, args) -> {
						if (method.getName().equals("getAutoCommit") && !joined.get()) {
							return true;
						}
						joined.compareAndSet(false, method.getName().startsWith("prepare"));
						if (method.getName().equals("close")) {
							DataSourceUtils.doReleaseConnection(connection, this.pool);
							return null;
						}
						try {
							return method.invoke(connection, args);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	@Test
	void whatWasBegunOnAConnectionIsRolledBackWhenItIsClosed() throws SQLException {
		CommittingPool committing = new CommittingPool(this.database.plain(), true);
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy);
				Connection connection = FencedDataSources.guard(committing).getConnection()) {
			connection.setAutoCommit(false);
			insert(connection, 1);
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void whatIsOpenInAPoolWithoutAutocommitIsRolledBackWhenItsConnectionIsClosed() throws SQLException {
		FakeRun healthy = this.database.begin("billing", 35);
		org.apache.tomcat.jdbc.pool.DataSource tomcat = new org.apache.tomcat.jdbc.pool.DataSource();
		tomcat.setDataSource(this.database.plain());
		tomcat.setDefaultAutoCommit(false);
		tomcat.setCommitOnReturn(true);
		tomcat.setMaxActive(1);
		DataSource guarded = FencedDataSources.guard(tomcat);
		try (var scope = CurrentJobRun.open(healthy)) {
			try (Connection connection = guarded.getConnection()) {
				insert(connection, 1);
			}
			try (Connection connection = guarded.getConnection()) {
				insert(connection, 2);
				connection.commit();
			}
		}
		tomcat.close();
		assertThat(this.database.outside().sql("select id from invoice").query(Long.class).list()).containsExactly(2L);
	}

	@Test
	void otherWaysToAConnectionAreRefusedInsideARun() throws SQLException {
		org.apache.tomcat.jdbc.pool.DataSource tomcat = new org.apache.tomcat.jdbc.pool.DataSource();
		tomcat.setDataSource(this.database.plain());
		var guarded = (org.apache.tomcat.jdbc.pool.DataSource) FencedDataSources.guard(tomcat);
		try (var scope = CurrentJobRun.open(this.stale)) {
			assertThatExceptionOfType(SQLException.class).isThrownBy(guarded::getConnectionAsync)
				.withMessageContaining("Use getConnection()");
			assertThatExceptionOfType(SQLException.class).isThrownBy(guarded::getPooledConnection)
				.withMessageContaining("Use getConnection()");
		}
		guarded.close();
	}

	/** A transaction manager may have the pool from elsewhere. */
	@Test
	void theGuardedPoolIsTheSameResourceForSpring() {
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.database.guarded());
		FakeRun healthy = this.database.begin("billing", 35);
		try (var scope = CurrentJobRun.open(healthy)) {
			new TransactionTemplate(transactions).executeWithoutResult((status) -> {
				new JdbcTemplate(this.database.pool()).update("insert into invoice values (1)");
				status.setRollbackOnly();
			});
		}
		assertThat(this.database.invoices()).isZero();
	}

	@Test
	void theFenceNeverJoinsATransaction() throws SQLException {
		DataSource layers = new DelegatingDataSource(new TransactionAwareDataSourceProxy(
				new LazyConnectionDataSourceProxy(new ProxyDataSource(this.database.guarded()))));
		try (var two = new GuardedDatabase(this.database.url(), (config) -> config.setMaximumPoolSize(2),
				FencingSettings.defaults())) {
			JdbcTransactionManager transactions = new JdbcTransactionManager(two.guarded());
			DataSource unguarded = FencedDataSources.unguarded(new TransactionAwareDataSourceProxy(two.guarded()));
			new TransactionTemplate(transactions).executeWithoutResult((status) -> {
				JdbcTemplate joined = new JdbcTemplate(two.guarded());
				String backend = "select pg_backend_pid()";
				assertThat(new JdbcTemplate(unguarded).queryForObject(backend, Integer.class))
					.isNotEqualTo(joined.queryForObject(backend, Integer.class));
			});
		}
		try (var scope = CurrentJobRun.open(this.stale);
				Connection connection = FencedDataSources.unguarded(layers).getConnection()) {
			assertThat(connection.isWrapperFor(GuardedConnection.class)).isFalse();
		}
	}

	@Test
	void poolsThatAreEnlistedInJtaTransactionsAreLeftAlone() {
		DataSource enlisted = new AtomikosDataSourceBean();
		assertThat(FencedDataSources.guard(enlisted)).isSameAs(enlisted);
		assertThat(FencedDataSources.prepare(enlisted)).isSameAs(enlisted);
		DataSource layer = new LazyConnectionDataSourceProxy();
		((DelegatingDataSource) layer).setTargetDataSource(enlisted);
		assertThat(FencedDataSources.guard(layer)).isSameAs(layer);
		assertThat(((DelegatingDataSource) layer).getTargetDataSource()).isSameAs(enlisted);
		assertThat(FencedDataSources.isEnlisted(layer)).isTrue();
		assertThat(FencedDataSources.isGuarded(layer)).isFalse();
		assertThat(FencedDataSources.isEnlisted(new BasicManagedDataSource())).isTrue();
		assertThat(FencedDataSources.isEnlisted(this.database.guarded())).isFalse();
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
