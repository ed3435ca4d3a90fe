package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.lease.Fence.FenceAnswer;
import io.github.singletonjob.servers.PostgresServer;
import org.postgresql.jdbc.PgConnection;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A database of its own with a fence and a table {@code invoice}, and guarded pools on
 * it.
 */
final class GuardedDatabase implements AutoCloseable {

	static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final String url;

	private final String username;

	private final HikariDataSource pool;

	private final DataSource guarded;

	private final JdbcFence fence;

	private final JdbcClient outside;

	GuardedDatabase() {
		this(PostgresServer.shared().newDatabase(), (config) -> {
		}, FencingSettings.defaults());
	}

	GuardedDatabase(Consumer<HikariConfig> customizer) {
		this(PostgresServer.shared().newDatabase(), customizer, FencingSettings.defaults());
	}

	GuardedDatabase(String url, Consumer<HikariConfig> customizer, FencingSettings settings) {
		this(url, PostgresServer.USERNAME, customizer, settings);
	}

	GuardedDatabase(String url, String username, Consumer<HikariConfig> customizer, FencingSettings settings) {
		this.url = url;
		this.username = username;
		this.pool = pool(customizer);
		this.guarded = FencedDataSources.guard(this.pool, settings);
		this.outside = JdbcClient.create(impatient(plain()));
		this.outside.sql("create table if not exists invoice (id bigint primary key, token bigint)").update();
		new FenceSchema(this.guarded).initialize();
		this.fence = new JdbcFence(plain());
	}

	/** A pool of one connection, so that every use is of the same session. */
	HikariDataSource pool(Consumer<HikariConfig> customizer) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(this.url);
		config.setUsername(this.username);
		config.setMaximumPoolSize(1);
		config.setConnectionTimeout(TIMEOUT.toMillis());
		customizer.accept(config);
		return new HikariDataSource(config);
	}

	DataSource plain() {
		return new DriverManagerDataSource(this.url, properties());
	}

	private Properties properties() {
		Properties properties = new Properties();
		properties.setProperty("user", this.username);
		return properties;
	}

	// A fence that does not work may leave somebody waiting
	private static JdbcTemplate impatient(DataSource dataSource) {
		JdbcTemplate template = new JdbcTemplate(dataSource);
		template.setQueryTimeout(20);
		return template;
	}

	String url() {
		return this.url;
	}

	HikariDataSource pool() {
		return this.pool;
	}

	/** The driver's own connection of the pool's only session, past the guard. */
	Connection session() throws SQLException {
		try (Connection connection = this.pool.getConnection()) {
			return connection.unwrap(PgConnection.class);
		}
	}

	DataSource guarded() {
		return this.guarded;
	}

	/** Asks past the guard, as another process would. */
	JdbcClient outside() {
		return this.outside;
	}

	long invoices() {
		return this.outside.sql("select count(*) from invoice").query(Long.class).single();
	}

	FenceAnswer raise(FakeRun run) {
		return this.fence.raise(run.grant(), run.holder(), TIMEOUT);
	}

	/** A run that has begun: its fence is raised. */
	FakeRun begin(String job, long token) {
		FakeRun run = new FakeRun(job, token);
		raise(run);
		return run;
	}

	/** Does something on a guarded connection inside a run. */
	void in(FakeRun run, Work work) throws SQLException {
		try (var scope = CurrentJobRun.open(run); Connection connection = this.guarded.getConnection()) {
			work.accept(connection);
		}
	}

	/** Does something inside a run and a transaction, which is left open. */
	void inTransaction(FakeRun run, Work work) throws SQLException {
		in(run, (connection) -> {
			connection.setAutoCommit(false);
			work.accept(connection);
		});
	}

	static void insert(Connection connection, long id) throws SQLException {
		try (var statement = connection.prepareStatement("insert into invoice (id) values (?)")) {
			statement.setLong(1, id);
			statement.executeUpdate();
		}
	}

	static void execute(Connection connection, String sql) throws SQLException {
		try (var statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@Override
	public void close() {
		this.pool.close();
	}

	@FunctionalInterface
	interface Work {

		void accept(Connection connection) throws SQLException;

	}

}
