package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Another JVM, which a test can watch, freeze and kill. Signals go to that JVM itself. It
 * ends with {@link #close()}, and with the JVM that started it however that ends.
 */
public final class JvmProcess implements AutoCloseable {

	private final OwnedProcess process;

	private final ProcessOutput output;

	private JvmProcess(OwnedProcess process, ProcessOutput output) {
		this.process = process;
		this.output = output;
	}

	/**
	 * Describes a JVM with the class path of this one.
	 * @param main the class to run
	 * @param arguments its arguments
	 * @return a builder
	 */
	public static Builder of(Class<?> main, String... arguments) {
		return new Builder(main.getName(), List.of(arguments));
	}

	public long pid() {
		return this.process.pid();
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * The time that it has spent on processors so far.
	 * @return the time of all its threads
	 */
	public Duration cpuTime() {
		return this.process.process().info().totalCpuDuration().orElseThrow();
	}

	/**
	 * What it has written so far, to either stream.
	 * @return the lines
	 */
	public List<String> lines() {
		return this.output.lines();
	}

	/**
	 * Waits for a line; one that is there already counts.
	 * @param regex found somewhere in the line
	 * @param atMost how long
	 * @return the line
	 */
	public String awaitLine(String regex, Duration atMost) {
		return awaitLineFrom(0, Pattern.compile(regex).asPredicate(), atMost);
	}

	/**
	 * Waits for a line; one that is there already counts.
	 * @param wanted tells the line
	 * @param atMost how long
	 * @return the line
	 */
	public String awaitLine(Predicate<String> wanted, Duration atMost) {
		return awaitLineFrom(0, wanted, atMost);
	}

	/**
	 * Waits for a line that is not among the first ones.
	 * @param skip how many lines do not count, for example {@code lines().size()}
	 * @param wanted tells the line
	 * @param atMost how long
	 * @return the line
	 */
	public String awaitLineFrom(int skip, Predicate<String> wanted, Duration atMost) {
		return this.output.await(skip, wanted, atMost);
	}

	/**
	 * Writes a line to its standard input.
	 * @param line without the line's end
	 */
	public void writeLine(String line) {
		try {
			this.process.process().getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
			this.process.process().getOutputStream().flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Stops it where it stands ({@code SIGSTOP}); returns when it does. */
	public void freeze() {
		Signals.freeze(List.of(pid()));
	}

	/** Lets it go on after {@link #freeze()}. */
	public void resume() {
		Signals.resume(List.of(pid()));
	}

	/** Ends it by {@code kill -9} and returns when it is gone. */
	public void kill() {
		this.process.kill();
	}

	/** Asks it to end ({@code SIGTERM}); does not wait. */
	public void terminate() {
		this.process.signal("TERM");
	}

	/**
	 * Waits for its end.
	 * @param atMost how long
	 * @return the exit code
	 */
	public int awaitExit(Duration atMost) {
		return this.process.awaitExit(atMost);
	}

	@Override
	public void close() {
		this.process.close();
	}

	/**
	 * What a JVM is started with.
	 */
	public static final class Builder {

		private final String main;

		private final List<String> arguments;

		private final List<String> options = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));

		private final Map<String, String> environment = new LinkedHashMap<>();

		private String classPath = System.getProperty("java.class.path");

		private Path javaHome = Path.of(System.getProperty("java.home"));

		private @Nullable String echo;

		private Builder(String main, List<String> arguments) {
			this.main = main;
			this.arguments = arguments;
		}

		public Builder systemProperty(String name, String value) {
			return option("-D" + name + "=" + value);
		}

		public Builder option(String option) {
			this.options.add(option);
			return this;
		}

		public Builder environment(String name, String value) {
			this.environment.put(name, value);
			return this;
		}

		public Builder classPath(String classPath) {
			this.classPath = classPath;
			return this;
		}

		/**
		 * Runs it on another JDK than that of this JVM.
		 * @param javaHome the home of the JDK
		 * @return this
		 */
		public Builder javaHome(Path javaHome) {
			this.javaHome = javaHome;
			return this;
		}

		/**
		 * Also prints its lines on this JVM's standard output.
		 * @param prefix begins each line
		 * @return this
		 */
		public Builder echo(String prefix) {
			this.echo = prefix;
			return this;
		}

		public JvmProcess start() {
			OwnedProcess process = OwnedProcess.start(command(), "KILL",
					(builder) -> builder.environment().putAll(this.environment));
			return new JvmProcess(process, ProcessOutput.of(process.process(), this.echo));
		}

		private List<String> command() {
			List<String> command = new ArrayList<>();
			command.add(this.javaHome.resolve("bin/java").toString());
			command.add("@" + classPathFile());
			command.addAll(this.options);
			command.add(this.main);
			command.addAll(this.arguments);
			return command;
		}

		/** In a file, since a class path can be longer than a command line may be. */
		private Path classPathFile() {
			String quoted = this.classPath.replace("\\", "\\\\").replace("\"", "\\\"");
			try {
				return Files.writeString(Workspace.newPath("class-path"), "-cp \"" + quoted + "\"\n");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
