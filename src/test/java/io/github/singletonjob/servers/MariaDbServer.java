package io.github.singletonjob.servers;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A real MariaDB on a loopback port, with a data directory of its own that is deleted by
 * {@link #close()}. It does not wait for the disk. The programs come from the machine;
 * tests call {@link #assumeAvailable()} first.
 */
public final class MariaDbServer implements AutoCloseable {

	/** The superuser, who needs no password. */
	public static final String USERNAME = "root";

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static @Nullable MariaDbServer shared;

	private final AtomicInteger databases = new AtomicInteger();

	private final Path data = Workspace.newPath("mariadb");

	private final Path log = Path.of(this.data + ".log");

	private final int port = Ports.free();

	private @Nullable OwnedProcess process;

	private MariaDbServer() {
	}

	/**
	 * Whether this machine has the programs.
	 * @return whether a server can be started
	 */
	public static boolean isAvailable() {
		return program("mariadbd").isPresent() && program("mariadb-install-db").isPresent();
	}

	/** Aborts a test, or fails it, where this machine does not have the program. */
	public static void assumeAvailable() {
		OwnedProcess.assumeInstalled(isAvailable(), "mariadb-server");
	}

	/**
	 * The server that all tests of this JVM share; it runs until the JVM ends.
	 * @return the running server
	 */
	public static synchronized MariaDbServer shared() {
		if (shared == null) {
			shared = new MariaDbServer().start();
		}
		return shared;
	}

	private synchronized MariaDbServer start() {
		run(command("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db",
				"--skip-name-resolve"))
			.awaitSuccess();
		OwnedProcess started = run(command("mariadbd", "--port=" + this.port, "--bind-address=127.0.0.1",
				"--socket=" + this.data.resolve("socket"), "--pid-file=" + this.data.resolve("pid"),
				"--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M",
				"--skip-log-bin"))
			.process();
		this.process = started;
		Waits.until("an answer of MariaDB on port " + this.port, TIMEOUT, () -> answers(started));
		return this;
	}

	private boolean answers(OwnedProcess started) {
		if (!started.isAlive()) {
			throw new IllegalStateException("Did not start, see " + this.log);
		}
		try (Connection connection = DriverManager.getConnection(jdbcUrl("") + "?connectTimeout=2000", USERNAME, "")) {
			return connection.isValid(1);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Creates an empty database.
	 * @return its JDBC URL, without a user
	 */
	public String newDatabase() {
		String name = "test_" + this.databases.incrementAndGet();
		try (Connection connection = DriverManager.getConnection(jdbcUrl(""), USERNAME, "");
				Statement statement = connection.createStatement()) {
			statement.execute("create database " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException("Could not create database " + name, ex);
		}
		return jdbcUrl(name);
	}

	private String jdbcUrl(String database) {
		return "jdbc:mariadb://127.0.0.1:" + this.port + "/" + database;
	}

	@Override
	public synchronized void close() {
		if (this.process != null) {
			this.process.close();
		}
		Workspace.delete(this.data);
	}

	/** Neither reads the machine's own configuration. It refuses to be root unasked. */
	private List<String> command(String program, String... arguments) {
		List<String> command = new ArrayList<>(List.of(
				program(program).orElseThrow(() -> new IllegalStateException("No " + program + " on this machine")),
				"--no-defaults", "--datadir=" + this.data, "--user=" + System.getProperty("user.name")));
		command.addAll(List.of(arguments));
		return command;
	}

	private Started run(List<String> command) {
		ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(this.log.toFile());
		return new Started(OwnedProcess.start(command, "KILL", (builder) -> builder.redirectOutput(output)));
	}

	private static Optional<String> program(String name) {
		Stream<String> path = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator));
		return Stream.concat(path, Stream.of("/usr/sbin", "/usr/bin"))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, name))
			.filter(Files::isExecutable)
			.map(Path::toString)
			.findFirst();
	}

	private record Started(OwnedProcess process) {

		void awaitSuccess() {
			int code = this.process.awaitExit(TIMEOUT);
			if (code != 0) {
				throw new IllegalStateException("The data directory of MariaDB could not be made, exit code " + code);
			}
		}

	}

}
