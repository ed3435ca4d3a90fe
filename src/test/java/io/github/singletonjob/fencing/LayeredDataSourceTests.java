package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.p6spy.engine.spy.P6DataSource;
import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.RunOutcome;
import io.github.singletonjob.RunResult;
import io.github.singletonjob.SingletonJobs;
import io.github.singletonjob.autoconfigure.SingletonJobAutoConfiguration;
import io.github.singletonjob.servers.PostgresServer;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import net.ttddyy.dsproxy.support.ProxyDataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.SqlSessionTemplate;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every pool and layer of data sources with every kind of transaction: what a healthy run
 * has written is there, and what a stale one writes is refused, or the start has named
 * it.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class LayeredDataSourceTests {

	private static final String ATOMIKOS = "Atomikos";

	private static final String WITHOUT_AUTOCOMMIT = "HikariCP without autocommit";

	private static final AtomicLong IDS = new AtomicLong();

	private static String url;

	private static JdbcClient outside;

	private static UserTransactionManager jta;

	@BeforeAll
	static void start() throws Exception {
		url = PostgresServer.shared().newDatabase();
		outside = JdbcClient.create(driver(properties()));
		outside.sql("create table payment (id bigint primary key)").update();
		jta = new UserTransactionManager();
		jta.init();
	}

	@AfterAll
	static void stop() {
		jta.close();
	}

	static Stream<Arguments> cells() {
		return layers().stream()
			.flatMap((layers) -> Arrays.stream(Transactions.values())
				.filter((transactions) -> !layers.name.equals(WITHOUT_AUTOCOMMIT) || transactions.endTransactions())
				.map((transactions) -> Arguments.of(layers, transactions)));
	}

	@ParameterizedTest
	@MethodSource("cells")
	void healthyWritesAreThereAndStaleOnesAreRefused(Layers layers, Transactions transactions, CapturedOutput output) {
		runner(layers, transactions).run((context) -> {
			assertThat(context).hasNotFailed();
			String job = "billing-" + IDS.incrementAndGet();
			long healthy = IDS.incrementAndGet();
			RunResult result = context.getBean(SingletonJobs.class)
				.run(job, (run) -> transactions.write(context, healthy));
			assertThat(result.failure()).isNull();
			assertThat(result.outcome()).isEqualTo(RunOutcome.COMPLETED);
			assertThat(written(healthy)).containsExactlyInAnyOrder(healthy, -healthy);
			if (!layers.name.equals(ATOMIKOS)) {
				long stale = IDS.incrementAndGet();
				RunResult refused = context.getBean(SingletonJobs.class).run(job, (run) -> {
					outside.sql("update singleton_job set token = token + 1, owner = 'newer' where name = ?")
						.param(job)
						.update();
					transactions.write(context, stale);
				});
				assertThat(written(stale)).as("writes of a stale run, which ended " + refused.outcome()).isEmpty();
				assertThat(refused.outcome()).isEqualTo(RunOutcome.LOST);
			}
			String named = output.getOut().lines().filter((line) -> line.contains("Not fenced")).findFirst().orElse("");
			assertThat(named.contains("DataSource bean 'dataSource'")).isEqualTo(layers.name.equals(ATOMIKOS));
			assertThat(named).doesNotContain("DataSource bean 'pool'");
		});
	}

	@Test
	void aPoolThatIsEnlistedInJtaTransactionsFailsTheStartWhereFencingIsRequired() {
		Layers atomikos = new Layers(ATOMIKOS, () -> new LazyConnectionDataSourceProxy(atomikos()));
		runner(atomikos, Transactions.PLAIN).withPropertyValues("singleton-job.fencing.required=true")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Not fenced, so that a stale holder can still write: everything, because the"
						+ " connections of DataSource bean 'dataSource' are enlisted in JTA transactions"));
	}

	private static Iterable<Long> written(long id) {
		return outside.sql("select id from payment where abs(id) = ?").param(id).query(Long.class).list();
	}

	private static ApplicationContextRunner runner(Layers layers, Transactions transactions) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SingletonJobAutoConfiguration.class, AopAutoConfiguration.class))
			.withPropertyValues("singleton-job.store=in-memory", "singleton-job.namespace=shop",
					"singleton-job.fencing.data-source=" + layers.chosen)
			.withInitializer((context) -> {
				GenericApplicationContext beans = (GenericApplicationContext) context;
				layers.register(beans);
				beans.registerBean(JdbcTemplate.class, () -> new JdbcTemplate(dataSource(beans)));
				transactions.register(beans);
			});
	}

	private static DataSource dataSource(ApplicationContext context) {
		return context.getBean("dataSource", DataSource.class);
	}

	private static Properties properties() {
		Properties properties = new Properties();
		properties.setProperty("user", PostgresServer.USERNAME);
		return properties;
	}

	private static DataSource driver(Properties properties) {
		return new DriverManagerDataSource(url, properties);
	}

	private static HikariDataSource hikari() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaximumPoolSize(3);
		pool.setMinimumIdle(0);
		return pool;
	}

	private static List<Layers> layers() {
		return List.of(new Layers("HikariCP", LayeredDataSourceTests::hikari), new Layers(WITHOUT_AUTOCOMMIT, () -> {
			HikariDataSource pool = hikari();
			pool.setAutoCommit(false);
			return pool;
		}), new Layers("Tomcat", LayeredDataSourceTests::tomcat), new Layers("DBCP2", LayeredDataSourceTests::dbcp2),
				new Layers(ATOMIKOS, LayeredDataSourceTests::atomikos),
				new Layers("transaction-aware", () -> new TransactionAwareDataSourceProxy(hikari())),
				new Layers("transaction-aware, primary above a pool", "", TransactionAwareDataSourceProxy::new),
				new Layers("transaction-aware above the chosen pool", "pool", TransactionAwareDataSourceProxy::new),
				new Layers("lazy", () -> new LazyConnectionDataSourceProxy(hikari())),
				new Layers("lazy, primary above a pool", "", LazyConnectionDataSourceProxy::new),
				new Layers("delegating", () -> new DelegatingDataSource(hikari())),
				new Layers("with credentials", LayeredDataSourceTests::withCredentials),
				new Layers("routing to the default", () -> routing(hikari(), null)),
				new Layers("routing without a default", () -> routing(hikari(), "main")),
				new Layers("routing, primary above a pool", "", (pool) -> routing(pool, "main")),
				new Layers("p6spy", () -> new P6DataSource(hikari())),
				new Layers("p6spy, primary above a pool", "", P6DataSource::new),
				new Layers("datasource-proxy", () -> new ProxyDataSource(hikari())),
				new Layers("datasource-proxy, primary above a pool", "", ProxyDataSource::new),
				new Layers("several", () -> new LazyConnectionDataSourceProxy(
						new ProxyDataSource(new DelegatingDataSource(new TransactionAwareDataSourceProxy(hikari()))))));
	}

	/**
	 * What stands between the pool and those who ask for connections.
	 *
	 * @param name for people
	 * @param chosen the bean to be guarded, or nothing for the primary one
	 * @param pool the pool, or all layers in one bean
	 * @param above the bean above the pool's, or null
	 */
	private record Layers(String name, String chosen, Supplier<DataSource> pool, UnaryOperator<DataSource> above) {

		Layers(String name, Supplier<DataSource> dataSource) {
			this(name, "", dataSource, null);
		}

		Layers(String name, String chosen, UnaryOperator<DataSource> above) {
			this(name, chosen, LayeredDataSourceTests::hikari, above);
		}

		void register(GenericApplicationContext context) {
			if (this.above == null) {
				context.registerBean("dataSource", DataSource.class, this.pool);
			}
			else {
				context.registerBean("pool", DataSource.class, this.pool);
				context.registerBean("dataSource", DataSource.class,
						() -> this.above.apply(context.getBean("pool", DataSource.class)),
						(definition) -> definition.setPrimary(true));
			}
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	private static DataSource withCredentials() {
		UserCredentialsDataSourceAdapter adapter = new UserCredentialsDataSourceAdapter();
		adapter.setTargetDataSource(driver(new Properties()));
		adapter.setUsername(PostgresServer.USERNAME);
		adapter.setPassword("any");
		return adapter;
	}

	private static DataSource routing(DataSource target, String key) {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
			@Override
			protected Object determineCurrentLookupKey() {
				return key;
			}
		};
		routing.setTargetDataSources(Map.of("main", target));
		if (key == null) {
			routing.setDefaultTargetDataSource(target);
		}
		routing.afterPropertiesSet();
		return routing;
	}

	private static DataSource tomcat() {
		org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
		pool.setDriverClassName("org.postgresql.Driver");
		pool.setUrl(url);
		pool.setUsername(PostgresServer.USERNAME);
		pool.setInitialSize(0);
		pool.setMaxActive(3);
		return pool;
	}

	private static DataSource dbcp2() {
		BasicDataSource pool = new BasicDataSource();
		pool.setUrl(url);
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaxTotal(3);
		return pool;
	}

	private static DataSource atomikos() {
		AtomikosDataSourceBean pool = new AtomikosDataSourceBean();
		pool.setUniqueResourceName("payments-" + IDS.incrementAndGet());
		pool.setXaDataSourceClassName("org.postgresql.xa.PGXADataSource");
		pool.getXaProperties().setProperty("url", url);
		pool.getXaProperties().setProperty("user", PostgresServer.USERNAME);
		pool.setMaxPoolSize(3);
		pool.setLocalTransactionMode(true);
		return pool;
	}

	/** How a job begins and ends its transactions, and writes. */
	enum Transactions {

		JDBC {
			@Override
			void register(GenericApplicationContext context) {
				context.registerBean(PlatformTransactionManager.class,
						() -> new JdbcTransactionManager(dataSource(context)));
			}

			@Override
			void write(ApplicationContext context, long id) {
				inTransaction(context, () -> {
					insert(context, id);
					insert(context, -id);
				});
			}
		},

		/** As {@link #JDBC}, but the transaction manager has the bean of the pool. */
		JDBC_OF_THE_POOL {
			@Override
			void register(GenericApplicationContext context) {
				String pool = context.containsBean("pool") ? "pool" : "dataSource";
				context.registerBean(PlatformTransactionManager.class,
						() -> new JdbcTransactionManager(context.getBean(pool, DataSource.class)));
			}

			@Override
			void write(ApplicationContext context, long id) throws SQLException {
				JDBC.write(context, id);
			}
		},

		JPA {
			@Override
			void register(GenericApplicationContext context) {
				context.registerBean(EntityManagerFactory.class,
						() -> Jpa.entityManagers(dataSource(context), Payment.class));
				context.registerBean(PlatformTransactionManager.class,
						() -> new JpaTransactionManager(context.getBean(EntityManagerFactory.class)));
			}

			@Override
			void write(ApplicationContext context, long id) {
				inTransaction(context, () -> {
					SharedEntityManagerCreator.createSharedEntityManager(context.getBean(EntityManagerFactory.class))
						.persist(new Payment(id));
					insert(context, -id);
				});
			}
		},

		JTA {
			@Override
			void register(GenericApplicationContext context) {
				context.registerBean(PlatformTransactionManager.class, () -> new JtaTransactionManager(jta, jta));
			}

			@Override
			void write(ApplicationContext context, long id) throws SQLException {
				JDBC.write(context, id);
			}
		},

		MYBATIS {
			@Override
			void register(GenericApplicationContext context) {
				JDBC.register(context);
				context.registerBean(SqlSessionTemplate.class, () -> mybatis(dataSource(context)));
			}

			@Override
			void write(ApplicationContext context, long id) {
				Payments payments = context.getBean(SqlSessionTemplate.class).getMapper(Payments.class);
				inTransaction(context, () -> {
					payments.insert(id);
					insert(context, -id);
				});
			}
		},

		PLAIN {
			@Override
			void write(ApplicationContext context, long id) throws SQLException {
				try (Connection connection = dataSource(context).getConnection()) {
					boolean autoCommit = connection.getAutoCommit();
					connection.setAutoCommit(false);
					insert(connection, id);
					connection.commit();
					connection.setAutoCommit(autoCommit);
					insert(connection, -id);
					if (!autoCommit) {
						connection.commit();
					}
				}
			}
		};

		void register(GenericApplicationContext context) {
		}

		/** JTA commits nothing on a connection that is not enlisted. */
		boolean endTransactions() {
			return this != JTA;
		}

		abstract void write(ApplicationContext context, long id) throws SQLException;

		private static void inTransaction(ApplicationContext context, Runnable work) {
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> work.run());
		}

		private static void insert(ApplicationContext context, long id) {
			context.getBean(JdbcTemplate.class).update("insert into payment values (?)", id);
		}

		private static void insert(Connection connection, long id) throws SQLException {
			try (var statement = connection.prepareStatement("insert into payment values (?)")) {
				statement.setLong(1, id);
				statement.executeUpdate();
			}
		}

		private static SqlSessionTemplate mybatis(DataSource dataSource) {
			try {
				SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
				factory.setDataSource(dataSource);
				SqlSessionFactory sessions = factory.getObject();
				sessions.getConfiguration().addMapper(Payments.class);
				return new SqlSessionTemplate(sessions);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	interface Payments {

		@Insert("insert into payment values (#{id})")
		int insert(long id);

	}

	/**
	 * A row that JPA writes.
	 */
	@Entity(name = "Payment")
	@Table(name = "payment")
	static class Payment {

		@Id
		private Long id;

		protected Payment() {
		}

		Payment(Long id) {
			this.id = id;
		}

		Long getId() {
			return this.id;
		}

	}

}
