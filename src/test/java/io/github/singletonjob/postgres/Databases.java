package io.github.singletonjob.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.singletonjob.servers.PostgresServer;
import org.jspecify.annotations.Nullable;

/**
 * Databases with the store's table, and what an operator would ask them.
 */
final class Databases {

	private static @Nullable PostgresServer server;

	private Databases() {
	}

	/**
	 * The server of these tests. It does not wait for the disk, which is slow where many
	 * build; a crash of the server, unlike one of the machine, loses nothing by that.
	 */
	static synchronized PostgresServer server() {
		if (server == null) {
			server = PostgresServer.create().with("fsync", "off").start();
		}
		return server;
	}

	/** A database of its own, with the table. */
	static String create() {
		String url = server().newDatabase();
		new PostgresSchema(source(url)).initialize();
		return url;
	}

	/** The same on any server of the loopback interface. */
	static String createAt(int port, String name) {
		String server = "jdbc:postgresql://127.0.0.1:%d/".formatted(port);
		execute(server + PostgresServer.USERNAME, "create database " + name);
		new PostgresSchema(source(server + name)).initialize();
		return server + name;
	}

	static SessionSource source(String url) {
		return () -> PostgresServer.connect(url);
	}

	static PostgresLeaseStore store(String url) {
		return new PostgresLeaseStore(source(url), "singleton-job test");
	}

	static void execute(String url, String sql) {
		try (Connection connection = PostgresServer.connect(url); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	/** The first column of the first row. */
	static long ask(String url, String sql) {
		try (Connection connection = PostgresServer.connect(url);
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(sql)) {
			row.next();
			return row.getLong(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(sql, ex);
		}
	}

	/** The advisory locks that anybody holds in this database. */
	static long advisoryLocks(String url) {
		return ask(url, """
				select count(*) from pg_locks where locktype = 'advisory'
				and database = (select oid from pg_database where datname = current_database())""");
	}

	/** The lease sessions that are open on this database. */
	static long sessions(String url) {
		return ask(url, """
				select count(*) from pg_stat_activity where application_name = 'singleton-job test'
				and datname = current_database()""");
	}

}
