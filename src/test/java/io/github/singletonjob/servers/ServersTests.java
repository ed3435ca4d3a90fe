package io.github.singletonjob.servers;

import java.io.IOException;
import java.net.Socket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.singletonjob.servers.PostgresServer.Stop;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The Postgres servers and the pooler in front of them.
 */
class ServersTests {

	@Test
	void commitsWaitForTheServerAndOnTheSharedOneNotForTheDisk() throws SQLException {
		try (PostgresServer own = PostgresServer.create().start()) {
			assertThat(query(own.newDatabase(), "show fsync")).isEqualTo("on");
		}
		String url = PostgresServer.shared().newDatabase();
		assertThat(query(url, "show fsync")).isEqualTo("off");
		assertThat(query(url, "show synchronous_commit")).isEqualTo("on");
		assertThat(query(url, "show max_connections")).isEqualTo("200");
		assertThat(query(url, "select datcollate from pg_database where datname = current_database()")).isEqualTo("C");
		assertThat(query(url, "show listen_addresses")).isEqualTo("127.0.0.1");
	}

	@Test
	void eachDatabaseIsNew() throws SQLException {
		String first = PostgresServer.shared().newDatabase();
		String second = PostgresServer.shared().newDatabase();
		execute(first, "create table t (n int)");
		execute(second, "create table t (n int)");
		assertThat(PostgresServer.shared()).isSameAs(PostgresServer.shared());
	}

	@ParameterizedTest
	@EnumSource
	void keepsDataOverARestart(Stop how) throws SQLException {
		try (PostgresServer server = PostgresServer.create().with("max_connections", "20").start()) {
			String url = server.newDatabase();
			execute(url, "create table t as select 1 n");
			server.with("max_connections", "30").restart(how);
			assertThat(query(url, "select n from t")).isEqualTo("1");
			assertThat(query(url, "show max_connections")).isEqualTo("30");
		}
	}

	@Test
	void keepsDataOverACrash() throws SQLException {
		try (PostgresServer server = PostgresServer.create().start()) {
			String url = server.newDatabase();
			execute(url, "create table t as select 1 n");
			try (Connection connection = PostgresServer.connect(url)) {
				server.kill();
				assertThat(server.isRunning()).isFalse();
				assertThat(connection.isValid(1)).isFalse();
			}
			server.start();
			assertThat(query(url, "select n from t")).isEqualTo("1");
		}
	}

	@Test
	void aPromotedReplicaLacksWhatDidNotReachIt() throws SQLException {
		try (PostgresServer primary = PostgresServer.create().start();
				TcpProxy proxy = TcpProxy.to(primary.port());
				PostgresServer replica = primary.startReplica(proxy.port())) {
			String url = primary.newDatabase();
			execute(url, "create table t as select 1 n");
			String copy = url.replace(":" + primary.port() + "/", ":" + replica.port() + "/");
			Waits.until("the row", Duration.ofSeconds(10), () -> has(copy, "t"));
			proxy.hang();
			execute(url, "insert into t values (2)");
			primary.kill();
			proxy.close();
			replica.promote();
			execute(copy, "insert into t values (3)");
			assertThat(query(copy, "select string_agg(n::text, ',' order by n) from t")).isEqualTo("1,3");
		}
	}

	@Test
	void frozenServerGoesOnWhereItStood() throws Exception {
		try (PostgresServer server = PostgresServer.create().start();
				Connection connection = PostgresServer.connect(server.jdbcUrl());
				Statement statement = connection.createStatement()) {
			server.freeze();
			CompletableFuture<Boolean> answer = CompletableFuture.supplyAsync(() -> select(statement));
			assertThat(answer.copy().completeOnTimeout(false, 300, TimeUnit.MILLISECONDS).join()).isFalse();
			server.resume();
			assertThat(answer.get(5, TimeUnit.SECONDS)).isTrue();
			server.freeze();
		}
	}

	@Test
	void closedServerLeavesNothing() {
		PostgresServer server = PostgresServer.create().start();
		server.close();
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> new Socket(Ports.LOOPBACK, server.port()).close());
	}

	/** Verify says that all tests have to run. */
	@Test
	void aTestWhoseProgramIsMissingFailsIfAllHaveToRun() {
		String before = System.getProperty("servers.required");
		try {
			System.setProperty("servers.required", "true");
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> OwnedProcess.assumeInstalled(false, "no-such-package"))
				.withMessageContaining("no-such-package");
			System.clearProperty("servers.required");
			assertThatExceptionOfType(TestAbortedException.class)
				.isThrownBy(() -> OwnedProcess.assumeInstalled(false, "no-such-package"));
		}
		finally {
			if (before == null) {
				System.clearProperty("servers.required");
			}
			else {
				System.setProperty("servers.required", before);
			}
		}
	}

	@Test
	void poolerSharesOneServerSession() throws SQLException {
		PgBouncerServer.assumeAvailable();
		String url = PostgresServer.shared().newDatabase();
		try (PgBouncerServer pooler = PgBouncerServer.start(url, 1);
				Connection first = PostgresServer.connect(pooler.jdbcUrl());
				Connection second = PostgresServer.connect(pooler.jdbcUrl())) {
			String pid = "select pg_backend_pid()";
			assertThat(query(first, pid)).isEqualTo(query(second, pid));
		}
	}

	@Test
	void proxyLeadsToPostgres() throws SQLException {
		String url = PostgresServer.shared().newDatabase();
		try (TcpProxy proxy = TcpProxy.to(PostgresServer.shared().port())) {
			assertThat(query(proxy.through(url), "select 1")).isEqualTo("1");
			assertThat(proxy.connections()).isEqualTo(1);
		}
	}

	private static boolean has(String url, String table) {
		try {
			return query(url, "select to_regclass('" + table + "') is not null").equals("t");
		}
		catch (SQLException ex) {
			return false; // not even the database is there
		}
	}

	private static boolean select(Statement statement) {
		try {
			return statement.execute("select 1");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void execute(String url, String sql) throws SQLException {
		try (Connection connection = PostgresServer.connect(url); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static String query(String url, String sql) throws SQLException {
		try (Connection connection = PostgresServer.connect(url)) {
			return query(connection, sql);
		}
	}

	private static String query(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getString(1);
		}
	}

}
