package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The two servers of the company.
 */
final class Servers implements AutoCloseable {

	private static final List<String> NAMES = List.of("server-1", "server-2");

	private static final Duration PATIENCE = Duration.ofSeconds(8);

	private final Terminal terminal;

	private final List<ServerProcess> processes = new ArrayList<>();

	Servers(Terminal terminal) {
		this.terminal = terminal;
	}

	/**
	 * Starts the servers.
	 * @param settings what they all need to know, as environment variables
	 * @param arguments what the user has set
	 * @param reaper is told of each process
	 */
	void start(Map<String, String> settings, List<String> arguments, Reaper reaper) {
		for (String name : NAMES) {
			ServerProcess server = ServerProcess.start(name, freePort(), settings, arguments);
			reaper.watchServer(server.pid());
			this.processes.add(server);
			server.listen((line) -> this.terminal.quote(name, line));
			this.terminal.tell("%s is process %d, http://127.0.0.1:%d/actuator/health".formatted(name, server.pid(),
					server.port()));
		}
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No free port for a server", ex);
		}
	}

	List<ServerProcess> all() {
		return List.copyOf(this.processes);
	}

	List<ServerState> states() {
		return this.processes.stream().map(ServerProcess::state).toList();
	}

	/**
	 * Stops the servers, and returns when they have ended.
	 */
	@Override
	public void close() {
		List<ServerProcess> running = this.processes.stream().filter(ServerProcess::isAlive).toList();
		running.forEach(ServerProcess::askToStop);
		try {
			for (ServerProcess server : running) {
				if (!server.awaitEnd(PATIENCE)) {
					this.terminal
						.tell(server.name() + " did not stop in " + PATIENCE.toSeconds() + " s and was killed");
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
