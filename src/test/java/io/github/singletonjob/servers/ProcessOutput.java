package io.github.singletonjob.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The lines that a process has written so far, read by a thread of its own.
 */
final class ProcessOutput {

	private final List<String> lines = new ArrayList<>();

	private final @Nullable String echo;

	private boolean ended;

	private ProcessOutput(@Nullable String echo) {
		this.echo = echo;
	}

	static ProcessOutput of(Process process, @Nullable String echo) {
		ProcessOutput output = new ProcessOutput(echo);
		Thread reader = new Thread(() -> output.read(process), "output-of-" + process.pid());
		reader.setDaemon(true);
		reader.start();
		return output;
	}

	synchronized List<String> lines() {
		return List.copyOf(this.lines);
	}

	/** The first line from an index on that matches, as soon as there is one. */
	synchronized String await(int from, Predicate<String> wanted, Duration atMost) {
		long deadline = System.nanoTime() + atMost.toNanos();
		try {
			Optional<String> found = find(from, wanted);
			while (found.isEmpty()) {
				wait(millisUntil(deadline));
				found = find(from, wanted);
			}
			return found.get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for a line", ex);
		}
	}

	private Optional<String> find(int from, Predicate<String> wanted) {
		return this.lines.stream().skip(from).filter(wanted).findFirst();
	}

	/** At least one, since none would be a wait without end. */
	private long millisUntil(long deadline) {
		long millis = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
		if (this.ended || millis <= 0) {
			throw new IllegalStateException("%s; lines so far:%n%s"
				.formatted(this.ended ? "The process ended without that line" : "No such line in time", text()));
		}
		return millis;
	}

	private String text() {
		return String.join(System.lineSeparator(), this.lines);
	}

	private void read(Process process) {
		try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				add(line);
			}
		}
		catch (IOException ex) {
			add("(output ended: " + ex.getMessage() + ")");
		}
		finally {
			end();
		}
	}

	private synchronized void add(String line) {
		if (this.echo != null) {
			System.out.println(this.echo + line);
		}
		this.lines.add(line);
		notifyAll();
	}

	private synchronized void end() {
		this.ended = true;
		notifyAll();
	}

}
