package io.github.singletonjob.servers;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One member of a real etcd cluster, on loopback ports, with a data directory of its own
 * that survives {@link #stop} and {@link #kill} and is deleted by {@link #close}. It does
 * not wait for the disk. The program comes from the machine; tests call
 * {@link #assumeAvailable()} first.
 */
public final class EtcdServer implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static @Nullable EtcdServer shared;

	private final Path data = Workspace.newPath("etcd");

	private final EtcdBackup backup = new EtcdBackup(this.data);

	private final Path log = Path.of(this.data + ".log");

	private final String name;

	private final int port = Ports.free();

	private final int peerPort = Ports.free();

	private final int healthPort = Ports.free();

	private final List<String> encryption = new ArrayList<>();

	private String members;

	private @Nullable OwnedProcess process;

	EtcdServer(String name) {
		this.name = name;
		this.members = asMember();
	}

	/**
	 * A cluster of one member, of the caller's own and not started yet.
	 * @return the server
	 */
	public static EtcdServer create() {
		return new EtcdServer("alone");
	}

	/**
	 * The server that all tests of this JVM share; it runs until the JVM ends.
	 * @return the running server
	 */
	public static synchronized EtcdServer shared() {
		if (shared == null) {
			shared = create().start();
		}
		return shared;
	}

	/**
	 * Whether this machine has the program.
	 * @return whether a server can be started
	 */
	public static boolean isAvailable() {
		return program().isPresent();
	}

	/** Aborts a test, or fails it, where this machine does not have the program. */
	public static void assumeAvailable() {
		OwnedProcess.assumeInstalled(isAvailable(), "etcd-server");
	}

	/**
	 * Encrypts the connections of clients; counts from the next start.
	 * @param own how the server proves who it is
	 * @param client whom it lets in
	 * @return this
	 */
	public EtcdServer withTls(Certificate own, Certificate client) {
		this.encryption.addAll(List.of("--cert-file", own.certificate().toString(), "--key-file", own.key().toString(),
				"--client-cert-auth", "--trusted-ca-file", client.certificate().toString(), "--listen-metrics-urls",
				healthUrl()));
		return this;
	}

	/** How the members of its cluster know it. */
	String asMember() {
		return this.name + "=" + peerUrl();
	}

	EtcdServer in(String members) {
		this.members = members;
		return this;
	}

	/**
	 * Starts the server and returns when it answers.
	 * @return this
	 */
	public EtcdServer start() {
		launch();
		awaitHealth();
		return this;
	}

	synchronized void launch() {
		if (isRunning()) {
			throw new IllegalStateException("Runs already on port " + this.port);
		}
		ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(this.log.toFile());
		this.process = OwnedProcess.start(command(), "KILL", (builder) -> builder.redirectOutput(output));
	}

	void awaitHealth() {
		Waits.until("a healthy etcd on port " + this.port, TIMEOUT, () -> {
			if (!isRunning()) {
				throw new IllegalStateException("Did not start, see " + this.log);
			}
			return new EtcdApi(this.encryption.isEmpty() ? endpoint() : healthUrl()).isHealthy();
		});
	}

	private List<String> command() {
		String program = program().orElseThrow(() -> new IllegalStateException("No etcd on this machine"));
		List<String> command = new ArrayList<>(List.of(program, "--name", this.name, "--data-dir", this.data.toString(),
				"--listen-client-urls", endpoint(), "--advertise-client-urls", endpoint(), "--listen-peer-urls",
				peerUrl(), "--initial-advertise-peer-urls", peerUrl(), "--initial-cluster", this.members, "--logger",
				"zap", "--log-level", "error", "--unsafe-no-fsync"));
		command.addAll(this.encryption);
		return command;
	}

	/** Stops the server in an orderly way. */
	public synchronized void stop() {
		OwnedProcess running = running();
		running.signal("TERM");
		running.awaitExit(TIMEOUT);
	}

	/** Ends the server by {@code kill -9}, as a crash would. */
	public synchronized void kill() {
		running().kill();
	}

	/** Stops the process where it stands; sockets stay open. */
	public synchronized void freeze() {
		Signals.freeze(List.of(running().pid()));
	}

	/** Lets a frozen server go on. */
	public synchronized void resume() {
		Signals.resume(List.of(running().pid()));
	}

	/** Makes a backup. */
	public void save() {
		this.backup.save(this);
	}

	/** Goes back to what was there at {@link #save()}. */
	public void restore() {
		kill();
		this.backup.restore(List.of("--name", this.name, "--initial-cluster", this.members,
				"--initial-advertise-peer-urls", peerUrl()));
		start();
	}

	/** Starts again with no data at all. */
	public void wipe() {
		kill();
		Workspace.delete(this.data);
		start();
	}

	public int port() {
		return this.port;
	}

	public String endpoint() {
		return (this.encryption.isEmpty() ? "http" : "https") + "://127.0.0.1:" + this.port;
	}

	/** What its JSON interface says. */
	public EtcdApi api() {
		return new EtcdApi(endpoint());
	}

	public synchronized boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	/** Ends the server, in whatever state it is, and deletes its data. */
	@Override
	public synchronized void close() {
		if (this.process != null) {
			this.process.close();
		}
		Workspace.delete(this.data);
		this.backup.delete();
	}

	/** Not encrypted. */
	private String healthUrl() {
		return "http://127.0.0.1:" + this.healthPort;
	}

	private String peerUrl() {
		return "http://127.0.0.1:" + this.peerPort;
	}

	private OwnedProcess running() {
		if (this.process == null || !this.process.isAlive()) {
			throw new IllegalStateException("No etcd runs on port " + this.port);
		}
		return this.process;
	}

	private static Optional<String> program() {
		return program("etcd");
	}

	static Optional<String> program(String name) {
		Stream<String> path = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator));
		return Stream.concat(path, Stream.of("/usr/bin"))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, name))
			.filter(Files::isExecutable)
			.map(Path::toString)
			.findFirst();
	}

}
