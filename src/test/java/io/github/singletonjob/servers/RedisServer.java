package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis server on a loopback port. It keeps nothing on disk: a {@link #restart}
 * loses all data.
 */
public final class RedisServer implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

	/** Its threads are daemons, and serve all servers of this JVM. */
	private static final RedisClient CLIENT = RedisClient.create();

	private static @Nullable RedisServer shared;

	private final int port = Ports.free();

	private final Path data = Workspace.newPath("redis");

	private final Path log = Path.of(this.data + ".log");

	private final Map<String, String> settings = new TreeMap<>(
			Map.of("bind", "127.0.0.1", "save", "", "appendonly", "no", "repl-diskless-sync-delay", "0"));

	private @Nullable String password;

	private @Nullable OwnedProcess process;

	private RedisServer() {
	}

	/**
	 * A server of the caller's own, not started yet.
	 * @return the server
	 */
	public static RedisServer create() {
		return new RedisServer();
	}

	/**
	 * The server that all tests of this JVM share; it runs until the JVM ends.
	 * @return the running server
	 */
	public static synchronized RedisServer shared() {
		if (shared == null) {
			shared = create().start();
		}
		return shared;
	}

	/**
	 * Sets a server parameter; counts from the next start.
	 * @param name as in {@code redis.conf}
	 * @param value its value
	 * @return this
	 */
	public synchronized RedisServer with(String name, String value) {
		this.settings.put(name, value);
		return this;
	}

	/**
	 * Requires a password; counts from the next start.
	 * @param password of the user {@code default}
	 * @return this
	 */
	public synchronized RedisServer withPassword(String password) {
		this.password = password;
		return with("requirepass", password);
	}

	/**
	 * Encrypts connections to another port; counts from the next start.
	 * @param own how the server proves who it is
	 * @param client whom it lets in
	 * @return that port
	 */
	public synchronized int withTls(Certificate own, Certificate client) {
		int encrypted = Ports.free();
		with("tls-port", Integer.toString(encrypted));
		with("tls-cert-file", own.certificate().toString());
		with("tls-key-file", own.key().toString());
		with("tls-ca-cert-file", client.certificate().toString());
		return encrypted;
	}

	/**
	 * Starts the server, empty, and returns when it answers.
	 * @return this
	 */
	public synchronized RedisServer start() {
		if (isRunning()) {
			throw new IllegalStateException("Runs already on port " + this.port);
		}
		try {
			Files.createDirectories(this.data);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(this.log.toFile());
		this.process = OwnedProcess.start(command(), "KILL", (builder) -> builder.redirectOutput(output));
		Waits.until("an answer from Redis on port " + this.port + ", see " + this.log, TIMEOUT, this::answers);
		return this;
	}

	/** Ends the server by {@code kill -9}. */
	public synchronized void kill() {
		running().kill();
	}

	/** Ends the server and starts it again, without its data. */
	public synchronized void restart() {
		kill();
		start();
	}

	/** Stops the process where it stands; sockets stay open. */
	public synchronized void freeze() {
		Signals.freeze(List.of(running().pid()));
	}

	/** Lets a frozen server go on. */
	public synchronized void resume() {
		Signals.resume(List.of(running().pid()));
	}

	/**
	 * Makes this server a copy of another one, and returns when it is.
	 * @param primary the other one; no password
	 */
	public void replicaOf(RedisServer primary) {
		ask((commands) -> commands.replicaof("127.0.0.1", primary.port()));
		Waits.until("a replica of port " + primary.port(), TIMEOUT,
				() -> ask((commands) -> commands.info("replication")).contains("master_link_status:up"));
	}

	/**
	 * Waits until this copy has what the other server has now.
	 * @param primary the other one
	 */
	public void awaitCopyOf(RedisServer primary) {
		long written = offset(primary);
		Waits.until("what port " + primary.port() + " has", TIMEOUT, () -> offset(this) >= written);
	}

	private static long offset(RedisServer server) {
		return Long.parseLong(server.ask((commands) -> commands.info("replication"))
			.lines()
			.filter((line) -> line.startsWith("master_repl_offset:"))
			.findFirst()
			.orElseThrow()
			.substring("master_repl_offset:".length())
			.trim());
	}

	/** Ends being a copy: from here on it can be written to. */
	public void promote() {
		ask(RedisCommands::replicaofNoOne);
	}

	/**
	 * Asks the server over a connection of its own.
	 * @param <T> the type of the answer
	 * @param question the command
	 * @return the answer
	 */
	public <T> T ask(Function<RedisCommands<String, String>, T> question) {
		try (StatefulRedisConnection<String, String> connection = CLIENT.connect(uri())) {
			return question.apply(connection.sync());
		}
	}

	public int port() {
		return this.port;
	}

	public synchronized boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	/** Ends the server, in whatever state it is. */
	@Override
	public synchronized void close() {
		if (this.process != null) {
			this.process.close();
		}
		Workspace.delete(this.data);
	}

	private boolean answers() {
		running();
		try {
			return "PONG".equals(ask(RedisCommands::ping));
		}
		catch (RedisException ex) {
			return false;
		}
	}

	private RedisURI uri() {
		RedisURI uri = RedisURI.create("127.0.0.1", this.port);
		uri.setTimeout(REPLY_TIMEOUT);
		if (this.password != null) {
			uri.setAuthentication(this.password);
		}
		return uri;
	}

	private OwnedProcess running() {
		if (this.process == null || !this.process.isAlive()) {
			throw new IllegalStateException("No Redis runs on port " + this.port + ", see " + this.log);
		}
		return this.process;
	}

	private List<String> command() {
		List<String> command = new ArrayList<>(
				List.of(RedisProgram.path(), "--port", Integer.toString(this.port), "--dir", this.data.toString()));
		this.settings.forEach((name, value) -> command.addAll(List.of("--" + name, value)));
		return command;
	}

}
