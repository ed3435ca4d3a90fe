package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Sends signals to processes by their ids and looks at what became of them. Needs
 * {@code /proc}.
 */
final class Signals {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private Signals() {
	}

	/**
	 * Sends a signal; a process that is gone already is no error.
	 * @param signal name without {@code SIG}
	 * @param pids the processes
	 */
	static void send(String signal, Collection<Long> pids) {
		if (pids.isEmpty()) {
			return;
		}
		List<String> command = new ArrayList<>(List.of("sh", "-c", "kill -s \"$0\" \"$@\" 2>/dev/null", signal));
		pids.forEach((pid) -> command.add(Long.toString(pid)));
		try {
			Process kill = new ProcessBuilder(command).redirectErrorStream(true).start();
			if (!kill.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
				kill.destroyForcibly();
				throw new IllegalStateException("kill -%s %s did not end".formatted(signal, pids));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while sending " + signal, ex);
		}
	}

	/** Stops the processes and returns once each one stands still or has ended. */
	static void freeze(Collection<Long> pids) {
		send("STOP", pids);
		Waits.until("frozen " + pids, TIMEOUT, () -> pids.stream().map(Signals::state).allMatch("TtZ-"::contains));
	}

	static void resume(Collection<Long> pids) {
		send("CONT", pids);
		Waits.until("resumed " + pids, TIMEOUT, () -> pids.stream().map(Signals::state).noneMatch("T"::equals));
	}

	/** Ends the processes with {@code kill -9} and returns once they are gone. */
	static void kill(Collection<Long> pids) {
		send("KILL", pids);
		Waits.until("killed " + pids, TIMEOUT, () -> pids.stream().allMatch(Signals::isGone));
	}

	/**
	 * Whether there is no such process any more, or only its exit code waits to be
	 * fetched. While other threads still end it has its files and locks.
	 */
	static boolean isGone(long pid) {
		List<String> status = status(pid);
		return status.isEmpty() || (field(status, "State").startsWith("Z") && "1".equals(field(status, "Threads")));
	}

	private static String state(long pid) {
		List<String> status = status(pid);
		return status.isEmpty() ? "-" : field(status, "State").substring(0, 1);
	}

	private static String field(List<String> status, String name) {
		return status.stream()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	/** No lines if there is no such process. */
	private static List<String> status(long pid) {
		try {
			return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"));
		}
		catch (IOException ex) {
			return List.of(); // also if it ended while its file was read
		}
	}

}
