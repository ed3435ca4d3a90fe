package io.github.singletonjob.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.awaitility.Awaitility;

/**
 * A PgBouncer in any of its modes, in front of one database. Ends with this JVM, however
 * that ends.
 */
final class PoolerProcess implements AutoCloseable {

	private static final String CONFIGURATION = """
			[databases]
			%1$s = host=127.0.0.1 port=%2$d user=postgres
			[pgbouncer]
			listen_addr = 127.0.0.1
			listen_port = %3$d
			unix_socket_dir =
			auth_type = any
			ignore_startup_parameters = extra_float_digits
			%4$s
			""";

	/** Reads until this JVM closes its end or is gone. */
	private static final String WATCHED = """
			PATH="$PATH:/usr/sbin"
			if [ "$(id -u)" = 0 ]; then pgbouncer -q -u nobody "$0" & else pgbouncer -q "$0" & fi
			pid=$!
			read line
			kill -9 $pid
			wait $pid""";

	private final Path configuration;

	private final String database;

	private final int port;

	private final Process process;

	private PoolerProcess(Path configuration, String database, int port, Process process) {
		this.configuration = configuration;
		this.database = database;
		this.port = port;
		this.process = process;
	}

	/**
	 * Starts a pooler and returns when it answers.
	 * @param jdbcUrl the database behind it
	 * @param settings lines of its configuration
	 */
	static PoolerProcess start(String jdbcUrl, String... settings) {
		URI target = URI.create(jdbcUrl.substring("jdbc:".length()));
		String database = target.getPath().substring(1);
		try {
			int port = freePort();
			Path file = Files.createDirectories(Path.of("target", "poolers").toAbsolutePath()).resolve(port + ".ini");
			Files.writeString(file,
					CONFIGURATION.formatted(database, target.getPort(), port, String.join("\n", settings)));
			Process process = new ProcessBuilder("sh", "-c", WATCHED, file.toString()).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start();
			PoolerProcess pooler = new PoolerProcess(file, database, port, process);
			pooler.awaitStart();
			return pooler;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private void awaitStart() {
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.atMost(Duration.ofSeconds(10))
			.ignoreException(ConnectException.class)
			.until(() -> {
				try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
					return socket.isConnected();
				}
			});
	}

	/** The way to the database through the pooler. */
	String jdbcUrl() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/" + this.database;
	}

	@Override
	public void close() throws IOException {
		this.process.getOutputStream().close();
		Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> !this.process.isAlive());
		Files.delete(this.configuration);
	}

}
