package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.springframework.util.FileSystemUtils;

/**
 * The server that keeps the leases, if that is not the company's database: a child
 * process on the loopback address.
 */
final class LeaseServer implements ServerSettings, AutoCloseable {

	private static final int SECONDS_TO_START = 30;

	private static final int SECONDS_TO_STOP = 3;

	private static final int MILLIS_BETWEEN_LOOKS = 50;

	private final StoreProgram program;

	private final Path directory;

	private final int port;

	private final Process process;

	private LeaseServer(StoreProgram program, Path directory, int port, Process process) {
		this.program = program;
		this.directory = directory;
		this.port = port;
		this.process = process;
	}

	/**
	 * Starts a server and returns when it can be used.
	 * @param program what to start
	 * @param stage where to keep its data and its log
	 * @param reaper is told of the process
	 * @return the running server
	 */
	static LeaseServer start(StoreProgram program, StageDirectory stage, Reaper reaper) {
		int port = Ports.free();
		try {
			Path directory = Files.createDirectories(stage.leases());
			// In a session of its own: Ctrl-C in the terminal is for the launcher only.
			List<String> command = new ArrayList<>(List.of("setsid"));
			command.addAll(program.command(directory, port));
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(stage.leasesLog().toFile())
				.start();
			reaper.watch(process.pid(), String.valueOf(port));
			LeaseServer server = new LeaseServer(program, directory, port, process);
			server.awaitAnswer(stage.leasesLog());
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(program.title() + " did not start", ex);
		}
	}

	private void awaitAnswer(Path log) {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_TO_START);
		while (!this.program.answers(this.port)) {
			if (hasEndedWithin(MILLIS_BETWEEN_LOOKS) || System.nanoTime() > end) {
				close();
				throw new IllegalStateException(this.program.title() + " did not start: see " + log);
			}
		}
	}

	private boolean hasEndedWithin(long millis) {
		try {
			return this.process.waitFor(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return true;
		}
	}

	@Override
	public Map<String, String> settings() {
		return this.program.settings(this.port);
	}

	/**
	 * Where the leases are.
	 * @return a sentence
	 */
	String describe() {
		return "The leases are in %s, process %d at 127.0.0.1:%d".formatted(this.program.title(), pid(), this.port);
	}

	long pid() {
		return this.process.pid();
	}

	/**
	 * Stops the server, also if it is frozen, and removes its data. The log stays.
	 */
	@Override
	public void close() {
		this.process.destroy();
		if (!hasEndedWithin(TimeUnit.SECONDS.toMillis(SECONDS_TO_STOP))) {
			this.process.destroyForcibly();
			hasEndedWithin(TimeUnit.SECONDS.toMillis(SECONDS_TO_STOP));
		}
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The leases cannot be removed from " + this.directory, ex);
		}
	}

}
