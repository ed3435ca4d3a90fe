package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.Assumptions;

/**
 * A process that ends when this JVM ends, also by {@code kill -9}. A shell starts a guard
 * in the background and then becomes the process, so that the id and the exit code are
 * its own. The guard hands on what is written to the standard input; when that ends,
 * because this JVM closed it or is gone, it ends the process, a frozen one too.
 */
final class OwnedProcess implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final String GUARDED = """
			fifo=$1 signal=$2
			shift 2
			born() { read -r stat <"/proc/$$/stat" && set -- ${stat##*) } && echo "${20}"; }
			mkfifo "$fifo" || exit 70
			exec 3<&0
			{
				trap '' HUP INT QUIT TERM
				start=$(born)
				exec 4>"$fifo"
				rm -f "$fifo"
				cat <&3 >&4
				cat <&3 >/dev/null
				alive() { [ -n "$start" ] && [ "$(born)" = "$start" ]; }
				children() {
					for file in /proc/[0-9]*/stat; do
						read -r stat <"$file" && set -- ${stat##*) } || continue
						pid=${file#/proc/}
						[ "$2" = $$ ] && echo "${pid%/stat}"
					done
				}
				alive || exit
				kill -CONT $$ $(children)
				kill -s "$signal" $$
				tries=100
				while alive && [ $tries -gt 0 ]; do
					tries=$((tries - 1))
					sleep 0.1
				done
				alive && kill -KILL $$
			} >/dev/null 2>&1 &
			exec "$@" <"$fifo" 3<&-
			""";

	private final Process process;

	/** Tells the guard of a process that has ended by itself to go. */
	private final CompletableFuture<Void> inputClosed;

	private OwnedProcess(Process process) {
		this.process = process;
		this.inputClosed = process.onExit().thenRun(this::closeInput);
	}

	/**
	 * Starts a process.
	 * @param command program and arguments
	 * @param lastSignal what the guard sends first when this JVM is gone, without
	 * {@code SIG}; ten seconds later it is {@code KILL}
	 * @param customizer says where the output goes
	 * @return the process
	 */
	static OwnedProcess start(List<String> command, String lastSignal, Consumer<ProcessBuilder> customizer) {
		String fifo = Workspace.newPath("stdin").toString();
		List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARDED, "sh", fifo, lastSignal));
		guarded.addAll(command);
		ProcessBuilder builder = new ProcessBuilder(guarded).redirectErrorStream(true);
		customizer.accept(builder);
		try {
			return new OwnedProcess(builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Aborts a test that needs a program which this machine does not have. Where
	 * {@code servers.required} says that all tests have to run, it fails.
	 * @param installed whether the program is there
	 * @param debian the package that has it
	 */
	static void assumeInstalled(boolean installed, String debian) {
		if (!installed) {
			String message = "NOT TESTED: the package '" + debian + "' is not installed";
			System.err.println(message);
			if (Boolean.getBoolean("servers.required")) {
				throw new AssertionError(message);
			}
			Assumptions.abort(message);
		}
	}

	Process process() {
		return this.process;
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	/** This process and those below it that run the same program, so not the guard. */
	List<Long> family() {
		Optional<String> program = this.process.info().command();
		List<Long> pids = new ArrayList<>(List.of(pid()));
		this.process.descendants()
			.filter((child) -> child.info().command().equals(program))
			.map(ProcessHandle::pid)
			.forEach(pids::add);
		return pids;
	}

	void signal(String signal) {
		Signals.send(signal, List.of(pid()));
	}

	/** Through the handle, which leaves what was written last to be read. */
	void kill() {
		this.process.toHandle().destroyForcibly();
		awaitExit(TIMEOUT);
	}

	int awaitExit(Duration atMost) {
		try {
			if (!this.process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Process %d still runs after %s".formatted(pid(), atMost));
			}
			return this.process.exitValue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for process " + pid(), ex);
		}
	}

	@Override
	public void close() {
		kill();
		this.inputClosed.orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
	}

	private void closeInput() {
		try (OutputStream input = this.process.getOutputStream()) {
			input.flush();
		}
		catch (IOException ex) {
			return; // the other end is gone, which is what was wanted
		}
	}

}
