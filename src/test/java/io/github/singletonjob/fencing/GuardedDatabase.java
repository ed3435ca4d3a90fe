package io.github.singletonjob.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.singletonjob.CurrentJobRun;
import io.github.singletonjob.lease.Fence.FenceAnswer;
import io.github.singletonjob.lease.JobId;
import io.github.singletonjob.lease.LeaseGrant;
import io.github.singletonjob.servers.PostgresServer;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
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
		FenceSchema schema = new FenceSchema(this.guarded);
		schema.initialize();
		schema.verify();
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

	/** What a commit does before it commits: checks the fence, and locks it. */
	static void check(Connection connection, LeaseGrant grant) throws SQLException {
		new FenceCheck(new FenceTable(), (sql) -> sql.replace("; commit", "")).commit(connection, List.of(grant));
	}

	/** Takes the lock that a raise holds beside that of the row. */
	static void lockAsRaise(Connection connection, JobId job) throws SQLException {
		if (FenceDialect.of(connection) == FenceDialect.POSTGRESQL) {
			execute(connection, "select pg_advisory_xact_lock(" + FenceLock.key(job) + ")");
		}
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

	/** A function {@code charge(id)} that inserts an invoice and returns its id. */
	void createCharge() {
		this.outside.sql("""
				create function charge(id bigint) returns bigint language plpgsql as
				'begin insert into invoice (id) values (charge.id); return charge.id; end'
				""").update();
	}

	/** A foreign table that leads to the invoices, through another session. */
	void createForeignInvoice() {
		String database = this.url.substring(this.url.lastIndexOf('/') + 1);
		for (String sql : new String[] { "create extension postgres_fdw",
				"create server far foreign data wrapper postgres_fdw options (host '127.0.0.1', port '"
						+ PostgresServer.shared().port() + "', dbname '" + database + "')",
				"create user mapping for public server far options (user '" + PostgresServer.USERNAME + "')",
				"create foreign table foreign_invoice (id bigint) server far options (table_name 'invoice')" }) {
			this.outside.sql(sql).update();
		}
	}

	/** Waits for the next notifications that a session listens to. */
	static List<String> nextNotifications(Connection listener) throws SQLException {
		return Stream.of(listener.unwrap(PGConnection.class).getNotifications((int) TIMEOUT.toMillis()))
			.map(PGNotification::getParameter)
			.toList();
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
