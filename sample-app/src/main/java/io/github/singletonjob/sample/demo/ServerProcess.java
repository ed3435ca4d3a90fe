package io.github.singletonjob.sample.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.singletonjob.sample.company.SampleApplication;

/**
 * A server of the company, as a process of its own.
 */
final class ServerProcess {

	/**
	 * A text in the command line of every server.
	 */
	static final String MARK = SampleApplication.class.getName();

	/**
	 * Ctrl-C in a terminal goes to all processes in it. The servers leave it alone: the
	 * launcher stops them in order, before the database.
	 */
	private static final String DEAF_TO_THE_TERMINAL = "trap '' INT HUP; exec \"$@\"";

	private final String name;

	private final Process process;

	private final int port;

	private volatile boolean reached;

	private ServerProcess(String name, Process process, int port) {
		this.name = name;
		this.process = process;
		this.port = port;
	}

	/**
	 * Starts a server.
	 * @param name its name
	 * @param port where it is to listen
	 * @param environment settings, as environment variables
	 * @param arguments settings, as arguments; they beat the environment
	 * @return the process, which is not ready yet
	 */
	static ServerProcess start(String name, int port, Map<String, String> environment, List<String> arguments) {
		List<String> command = new ArrayList<>(List.of("sh", "-c", DEAF_TO_THE_TERMINAL, name, java()));
		command
			.addAll(List.of("-Xmx192m", "-Dfile.encoding=UTF-8", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", MARK));
		command.addAll(arguments);
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
		builder.environment().putAll(environment);
		builder.environment().put("SERVER_PORT", String.valueOf(port));
		builder.environment().put("SINGLETONJOB_HOLDER", name);
		try {
			return new ServerProcess(name, builder.start(), port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(name + " did not start", ex);
		}
	}

	private static String java() {
		return Path.of(System.getProperty("java.home"), "bin", "java").toString();
	}

	/**
	 * Hands out what the server prints, until it ends.
	 * @param lines gets each line, on a thread of its own
	 */
	void listen(Consumer<String> lines) {
		Thread listener = new Thread(() -> {
			try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
				output.lines().forEach(lines);
			}
			catch (IOException | UncheckedIOException ex) {
				// The server has ended.
			}
		}, this.name + " output");
		listener.setDaemon(true);
		listener.start();
	}

	int port() {
		return this.port;
	}

	String name() {
		return this.name;
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	ServerState state() {
		ServerState.Condition condition = ServerState.Condition.RUNNING;
		if (!isAlive()) {
			condition = ServerState.Condition.ENDED;
		}
		else if (isFrozen()) {
			condition = ServerState.Condition.FROZEN;
		}
		else if (!isReached()) {
			condition = ServerState.Condition.STARTING;
		}
		return new ServerState(this.name, pid(), condition);
	}

	private boolean isReached() {
		if (!this.reached) {
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
				this.reached = socket.isConnected();
			}
			catch (IOException ex) {
				return false;
			}
		}
		return true;
	}

	private boolean isFrozen() {
		try {
			String status = Files.readString(Path.of("/proc", String.valueOf(pid()), "stat"));
			// The state follows the name of the program, which is in parentheses.
			return status.charAt(status.lastIndexOf(')') + 2) == 'T';
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Asks the server to stop. A frozen one is woken up for it.
	 */
	void askToStop() {
		// By its handle: the process itself would close the pipe, and the last words of
		// the server would be lost.
		this.process.toHandle().destroy();
		signal("CONT");
	}

	/**
	 * Waits until the server has ended, and kills it if that takes too long.
	 * @param patience how long to wait
	 * @return whether it ended by itself
	 * @throws InterruptedException if the thread is interrupted
	 */
	boolean awaitEnd(Duration patience) throws InterruptedException {
		if (this.process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
			return true;
		}
		this.process.destroyForcibly().waitFor();
		return false;
	}

	private void signal(String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, String.valueOf(pid())).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No program 'kill' to send SIG" + signal + " with", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
