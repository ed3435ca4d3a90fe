package io.github.singletonjob.servers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A PgBouncer that pools transactions in front of one database. The program comes from
 * the machine; tests call {@link #assumeAvailable()} first.
 */
public final class PgBouncerServer implements AutoCloseable {

	private static final String CONFIGURATION = """
			[databases]
			%1$s = host=%2$s port=%3$d dbname=%1$s user=%4$s
			[pgbouncer]
			listen_addr = 127.0.0.1
			listen_port = %5$d
			unix_socket_dir =
			auth_type = any
			pool_mode = %7$s
			default_pool_size = %6$d
			ignore_startup_parameters = extra_float_digits
			""";

	private final String jdbcUrl;

	private final int port;

	private final OwnedProcess process;

	private PgBouncerServer(String jdbcUrl, int port, OwnedProcess process) {
		this.jdbcUrl = jdbcUrl;
		this.port = port;
		this.process = process;
	}

	/**
	 * Whether this machine has the program.
	 * @return whether {@link #start} can work
	 */
	public static boolean isAvailable() {
		return program().isPresent();
	}

	/** Aborts a test, or fails it, where this machine does not have the program. */
	public static void assumeAvailable() {
		OwnedProcess.assumeInstalled(isAvailable(), "pgbouncer");
	}

	/**
	 * Starts a pooler and returns when it answers.
	 * @param jdbcUrl the database behind it, as {@link PostgresServer} gives it
	 * @param poolSize server connections at most
	 * @return the pooler
	 */
	public static PgBouncerServer start(String jdbcUrl, int poolSize) {
		return start(jdbcUrl, poolSize, "transaction");
	}

	/**
	 * The same with another mode.
	 * @param jdbcUrl the database behind it
	 * @param poolSize server connections at most
	 * @param mode for how long a client keeps its server connection
	 * @return the pooler
	 */
	public static PgBouncerServer start(String jdbcUrl, int poolSize, String mode) {
		URI target = URI.create(jdbcUrl.substring("jdbc:".length()));
		String database = target.getPath().substring(1);
		int port = Ports.free();
		Path file = write(CONFIGURATION.formatted(database, target.getHost(), target.getPort(), PostgresServer.USERNAME,
				port, poolSize, mode));
		String pooled = "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database);
		Path log = Path.of(file + ".log");
		return new PgBouncerServer(pooled, port, DatabaseProcess.start(command(file), "TERM", log, pooled));
	}

	/**
	 * The way to the database through the pooler.
	 * @return its JDBC URL, without a user
	 */
	public String jdbcUrl() {
		return this.jdbcUrl;
	}

	public int port() {
		return this.port;
	}

	@Override
	public void close() {
		this.process.close();
	}

	/** PgBouncer refuses to stay root. */
	private static List<String> command(Path configuration) {
		String program = program().orElseThrow(() -> new IllegalStateException("No pgbouncer on this machine"));
		boolean root = "root".equals(System.getProperty("user.name"));
		return root ? List.of(program, "-u", "nobody", configuration.toString())
				: List.of(program, configuration.toString());
	}

	private static Optional<String> program() {
		Stream<String> path = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator));
		return Stream.concat(path, Stream.of("/usr/sbin"))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, "pgbouncer"))
			.filter(Files::isExecutable)
			.map(Path::toString)
			.findFirst();
	}

	private static Path write(String configuration) {
		try {
			return Files.writeString(Workspace.newPath("pgbouncer"), configuration);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
