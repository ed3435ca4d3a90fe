package io.github.singletonjob.sample.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The whole demo, as a user starts it: a process that is known by what it prints.
 */
final class DemoProcess implements AutoCloseable {

	/**
	 * More than anything takes on a busy machine.
	 */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final Path directory;

	private final Process launcher;

	private final List<String> lines = new CopyOnWriteArrayList<>();

	private int read;

	private DemoProcess(Path directory, Process launcher) {
		this.directory = directory;
		this.launcher = launcher;
	}

	static DemoProcess start(String name, String... options) throws IOException {
		Path directory = Path.of("target", name).toAbsolutePath();
		List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"), "-cp",
				System.getProperty("java.class.path"), DemoLauncher.class.getName(), "--demo.directory=" + directory));
		command.addAll(Arrays.asList(options));
		DemoProcess demo = new DemoProcess(directory, new ProcessBuilder(command).redirectErrorStream(true).start());
		Thread reader = new Thread(demo::readLines, name);
		reader.setDaemon(true);
		reader.start();
		return demo;
	}

	private void readLines() {
		try (BufferedReader output = this.launcher.inputReader(StandardCharsets.UTF_8)) {
			output.lines().forEach(this.lines::add);
		}
		catch (IOException | UncheckedIOException ex) {
			// The launcher has ended.
		}
	}

	/**
	 * Waits for the next line that contains a pattern, and goes on behind it.
	 */
	MatchResult await(String pattern) {
		Pattern compiled = Pattern.compile(pattern);
		try {
			return Awaitility.await()
				.pollInterval(Duration.ofMillis(50))
				.atMost(PATIENCE)
				.until(() -> next(compiled), (found) -> found != null);
		}
		catch (ConditionTimeoutException ex) {
			dumpThreads();
			throw new AssertionError("No line with '" + pattern + "' in:\n" + String.join("\n", this.lines), ex);
		}
	}

	/** Lets the servers say among the lines what each of their threads is doing. */
	private void dumpThreads() {
		this.launcher.descendants()
			.filter((process) -> process.info().command().orElse("").endsWith("java"))
			.forEach((server) -> {
				try {
					signal("QUIT", server.pid());
				}
				catch (Exception ex) {
					this.lines.add("No threads of process " + server.pid() + ": " + ex);
				}
			});
		try {
			Awaitility.await()
				.atMost(Duration.ofSeconds(5))
				.until(() -> this.lines.stream().anyMatch((line) -> line.contains("JNI global refs")));
		}
		catch (ConditionTimeoutException ex) {
			this.lines.add("No thread dump came in time");
		}
	}

	private MatchResult next(Pattern pattern) {
		for (int i = this.read; i < this.lines.size(); i++) {
			Matcher matcher = pattern.matcher(this.lines.get(i));
			if (matcher.find()) {
				this.read = i + 1;
				return matcher.toMatchResult();
			}
		}
		return null;
	}

	/**
	 * Waits for a line that may have been printed before or after the last one waited
	 * for.
	 */
	void awaitAnywhere(String pattern) {
		int read = this.read;
		this.read = 0;
		await(pattern);
		this.read = read;
	}

	long pidOf(String server) {
		Pattern pattern = Pattern.compile(server + " is process (\\d+)");
		return this.lines.stream()
			.map(pattern::matcher)
			.filter(Matcher::find)
			.mapToLong((matcher) -> Long.parseLong(matcher.group(1)))
			.findFirst()
			.orElseThrow();
	}

	JdbcClient books() {
		Pattern pattern = Pattern.compile("The books are in (\\S+)");
		String url = this.lines.stream()
			.map(pattern::matcher)
			.filter(Matcher::find)
			.map((matcher) -> matcher.group(1))
			.findFirst()
			.orElseThrow();
		return JdbcClient.create(new DriverManagerDataSource(url));
	}

	void freeze(String server) throws Exception {
		signal("STOP", pidOf(server));
	}

	void wake(String server) throws Exception {
		signal("CONT", pidOf(server));
	}

	/**
	 * Sends the launcher a signal.
	 */
	void signal(String signal) throws Exception {
		signal(signal, this.launcher.pid());
	}

	private static void signal(String signal, long pid) throws Exception {
		new ProcessBuilder("kill", "-" + signal, String.valueOf(pid)).inheritIO().start().waitFor();
	}

	/**
	 * All processes of the demo but the launcher: servers, reaper and Postgres.
	 */
	List<ProcessHandle> processes() throws IOException {
		long postmaster = Long.parseLong(Files.readAllLines(this.directory.resolve("data/postmaster.pid")).get(0));
		return Stream.concat(this.launcher.descendants(), ProcessHandle.of(postmaster).stream()).toList();
	}

	boolean ended(Duration limit) throws InterruptedException {
		return this.launcher.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
	}

	Path data() {
		return this.directory.resolve("data");
	}

	/**
	 * Ends the demo, whatever became of it.
	 */
	@Override
	public void close() throws Exception {
		this.launcher.destroy();
		if (!ended(Duration.ofSeconds(20))) {
			this.launcher.destroyForcibly();
		}
	}

}
