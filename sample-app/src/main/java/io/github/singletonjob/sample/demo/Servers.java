package io.github.singletonjob.sample.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
	 * @param surroundings what they all need to know
	 * @param arguments what the user has set
	 * @param reaper is told of each process
	 */
	void start(List<ServerSettings> surroundings, List<String> arguments, Reaper reaper) {
		Map<String, String> settings = new HashMap<>();
		surroundings.forEach((each) -> settings.putAll(each.settings()));
		for (String name : NAMES) {
			ServerProcess server = ServerProcess.start(name, Ports.free(), settings, arguments);
			reaper.watch(server.pid(), ServerProcess.MARK);
			this.processes.add(server);
			server.listen((line) -> this.terminal.quote(name, line));
			this.terminal.tell("%s is process %d, http://127.0.0.1:%d/actuator/health".formatted(name, server.pid(),
					server.port()));
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
