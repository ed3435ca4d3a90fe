package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A small process that outlives the launcher when that is killed, and then ends what the
 * launcher has started. It reads a pipe from the launcher: the end of the file, without
 * the word "over" before it, is the launcher's death.
 */
final class Reaper implements AutoCloseable {

	/**
	 * A process id may belong to somebody else by then, so each is looked at first.
	 */
	private static final String SCRIPT = """
			trap '' INT TERM HUP
			while read -r what value; do
				case $what in
					process) processes="$processes $value" ;;
					database) database=$value ;;
					over) exit 0 ;;
				esac
			done
			for process in $processes; do
				pid=${process%%/*}
				if grep -q "${process#*/}" "/proc/$pid/cmdline" 2>/dev/null; then kill -KILL "$pid" 2>/dev/null; fi
			done
			if [ -n "$database" ] && [ -f "$database/postmaster.pid" ]; then
				read -r pid <"$database/postmaster.pid"
				kill -INT "$pid" 2>/dev/null
			fi
			""";

	private final Process process;

	private final Writer pipe;

	private Reaper(Process process) {
		this.process = process;
		this.pipe = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
	}

	/**
	 * Starts a reaper.
	 * @return the running reaper
	 */
	static Reaper start() {
		try {
			return new Reaper(
					new ProcessBuilder("sh", "-c", SCRIPT, "reaper").redirectOutput(ProcessBuilder.Redirect.DISCARD)
						.redirectError(ProcessBuilder.Redirect.DISCARD)
						.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No shell to start the reaper with", ex);
		}
	}

	/**
	 * Ends a process, should the launcher die.
	 * @param pid its process id
	 * @param mark a word in its command line, by which it is known
	 */
	void watch(long pid, String mark) {
		say("process " + pid + "/" + mark);
	}

	void watchDatabase(Path dataDirectory) {
		say("database " + dataDirectory);
	}

	private synchronized void say(String line) {
		try {
			this.pipe.write(line + "\n");
			this.pipe.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The reaper is gone", ex);
		}
	}

	long pid() {
		return this.process.pid();
	}

	/**
	 * Closes the pipe without a word, as the death of the launcher does.
	 * @throws IOException if the pipe is broken
	 */
	void abandon() throws IOException {
		this.pipe.close();
	}

	/**
	 * Ends the reaper without any work: everything has been stopped already.
	 */
	@Override
	public void close() {
		try {
			say("over");
			if (!this.process.waitFor(2, TimeUnit.SECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (UncheckedIOException ex) {
			// It is gone already.
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
