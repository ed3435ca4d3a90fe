package io.github.singletonjob.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * A real Postgres server on a loopback port, with a data directory of its own that
 * survives {@link #stop}, {@link #kill} and {@link #restart} and is deleted by
 * {@link #close}. Commits are durable unless a test says otherwise; the superuser
 * {@value #USERNAME} needs no password.
 */
public final class PostgresServer implements AutoCloseable {

	/** The superuser. */
	public static final String USERNAME = "postgres";

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static @Nullable PostgresServer shared;

	private final Map<String, String> settings = new TreeMap<>(
			Map.of("listen_addresses", "127.0.0.1", "unix_socket_directories", "", "fsync", "on", "synchronous_commit",
					"on", "max_connections", "200", "timezone", "UTC"));

	private final AtomicInteger databases = new AtomicInteger();

	private final Path data = Workspace.newPath("postgres");

	private final Path log = Path.of(this.data + ".log");

	private final int port = Ports.free();

	private @Nullable OwnedProcess process;

	private PostgresServer() {
	}

	/**
	 * A server of the caller's own, not started yet: for tests that stop, kill or
	 * configure it.
	 * @return the server
	 */
	public static PostgresServer create() {
		return new PostgresServer();
	}

	/**
	 * The server that all tests of this JVM share; it runs until the JVM ends. It does
	 * not wait for the disk, which only the loss of power would show.
	 * @return the running server
	 */
	public static synchronized PostgresServer shared() {
		if (shared == null) {
			shared = create().with("fsync", "off").start();
		}
		return shared;
	}

	/**
	 * Connects as superuser.
	 * @param jdbcUrl a URL from here, or one that leads here through a proxy
	 * @return the connection
	 * @throws SQLException if the server refuses
	 */
	public static Connection connect(String jdbcUrl) throws SQLException {
		return DriverManager.getConnection(jdbcUrl, USERNAME, "");
	}

	/**
	 * Sets a server parameter; counts from the next start.
	 * @param name for example {@code max_connections}
	 * @param value its value
	 * @return this
	 */
	public synchronized PostgresServer with(String name, String value) {
		this.settings.put(name, value);
		return this;
	}

	/**
	 * Starts the server on its data directory and port and returns when it answers.
	 * @return this
	 */
	public synchronized PostgresServer start() {
		if (isRunning()) {
			throw new IllegalStateException("Runs already on port " + this.port);
		}
		if (!Files.exists(this.data)) {
			PostgresFiles.get().copyTo(this.data);
		}
		List<String> command = PostgresFiles.get().command(this.data, this.port, this.settings);
		this.process = DatabaseProcess.start(command, Stop.IMMEDIATE.signal, this.log, jdbcUrl());
		return this;
	}

	/**
	 * Stops the server in an orderly way.
	 * @param how whether it writes a checkpoint first
	 */
	public synchronized void stop(Stop how) {
		OwnedProcess running = running();
		running.signal(how.signal);
		running.awaitExit(TIMEOUT);
	}

	/**
	 * Stops the server and starts it again.
	 * @param how whether it writes a checkpoint before it stops
	 */
	public synchronized void restart(Stop how) {
		stop(how);
		start();
	}

	/** Ends all processes of the server by {@code kill -9}, as a crash would. */
	public synchronized void kill() {
		OwnedProcess running = running();
		Signals.freeze(List.of(running.pid())); // starts no more processes
		Signals.kill(running.family());
		running.awaitExit(TIMEOUT);
	}

	/** Stops all processes of the server where they stand; sockets stay open. */
	public synchronized void freeze() {
		OwnedProcess running = running();
		Signals.freeze(List.of(running.pid()));
		Signals.freeze(running.family());
	}

	/** Lets a frozen server go on. */
	public synchronized void resume() {
		Signals.resume(running().family());
	}

	/**
	 * Starts a replica that follows this server asynchronously, and returns when it does.
	 * @param primaryPort the loopback port through which it reaches this server
	 * @return the replica, for the caller to close
	 */
	public synchronized PostgresServer startReplica(int primaryPort) {
		PostgresServer replica = create();
		replica.settings.putAll(this.settings);
		replica.with("primary_conninfo", "host=127.0.0.1 port=" + primaryPort + " user=" + USERNAME)
			.with("wal_retrieve_retry_interval", "100ms"); // a promotion may wait for so
															// long
		try (Connection connection = connect(jdbcUrl()); Statement statement = connection.createStatement()) {
			statement.execute("select pg_backup_start('replica', fast => true)");
			PostgresFiles.copyRunning(this.data, replica.data);
			Files.writeString(replica.data.resolve("backup_label"),
					text(statement, "select labelfile from pg_backup_stop()"));
			Files.createFile(replica.data.resolve("standby.signal"));
			replica.start();
			Waits.until("a replica that follows", TIMEOUT,
					() -> "streaming".equals(text(statement, "select max(state) from pg_stat_replication")));
			return replica;
		}
		catch (IOException | SQLException ex) {
			replica.close();
			throw new IllegalStateException("Could not start a replica", ex);
		}
	}

	/** Ends being a replica: from here on it can be written to. */
	public void promote() {
		try (Connection connection = connect(jdbcUrl()); Statement statement = connection.createStatement()) {
			if (!"t".equals(text(statement, "select pg_promote()"))) {
				throw new IllegalStateException("Still a replica after a minute, see " + this.log);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException("Could not promote", ex);
		}
	}

	private static String text(Statement statement, String query) throws SQLException {
		try (ResultSet row = statement.executeQuery(query)) {
			row.next();
			return String.valueOf(row.getString(1));
		}
	}

	/**
	 * Makes an empty database.
	 * @return its JDBC URL, without a user
	 */
	public String newDatabase() {
		String name = "test_" + this.databases.incrementAndGet();
		try (Connection connection = connect(jdbcUrl()); Statement statement = connection.createStatement()) {
			statement.execute("create database " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException("Could not create database " + name, ex);
		}
		return jdbcUrl(name);
	}

	/**
	 * The URL of the database {@code postgres}, which always exists.
	 * @return its JDBC URL, without a user
	 */
	public String jdbcUrl() {
		return jdbcUrl("postgres");
	}

	public String username() {
		return USERNAME;
	}

	public int port() {
		return this.port;
	}

	public synchronized boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	/** Ends the server, in whatever state it is, and deletes its data. */
	@Override
	public synchronized void close() {
		if (isRunning()) {
			kill();
		}
		if (this.process != null) {
			this.process.close();
		}
		Workspace.delete(this.data);
	}

	private String jdbcUrl(String database) {
		return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(this.port, database);
	}

	private OwnedProcess running() {
		if (this.process == null || !this.process.isAlive()) {
			throw new IllegalStateException("No Postgres runs on port " + this.port);
		}
		return this.process;
	}

	/** How an orderly stop goes. */
	public enum Stop {

		/** Ends the sessions and writes a checkpoint. */
		FAST("INT"),

		/** Ends at once; the next start recovers from the log. */
		IMMEDIATE("QUIT");

		private final String signal;

		Stop(String signal) {
			this.signal = signal;
		}

	}

}
