package io.github.singletonjob.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor.Settings;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * An application whose context was processed ahead of time, on the JVM, and what a native
 * image is told; and one on virtual threads of a newer JVM.
 */
@Timeout(240)
class AheadOfTimeTests {

	private static final List<String> EVERYTHING = List.of("> scheduled true", "> live true", "> by code COMPLETED",
			"> released true", "> told true", "> closed");

	private static final List<String> SETTINGS = List.of("--singleton-job.store=in-memory",
			"--singleton-job.namespace=shop", "--spring.main.banner-mode=off");

	@TempDir
	private Path output;

	@Test
	void aContextFromProcessedSourcesRunsItsJobs() throws IOException, InterruptedException {
		processAheadOfTime();
		String printed = run(Path.of(System.getProperty("java.home")), List.of("-Dspring.aot.enabled=true"), SETTINGS);
		assertThat(printed).contains("Starting AOT-processed AheadOfTimeApplication");
		assertThat(printed.lines()).containsAll(EVERYTHING).contains("> billing held true on platform");
	}

	@Test
	void jobsRunOnVirtualThreadsOfJava25() throws IOException, InterruptedException {
		Path java25 = java25();
		assumeTrue(java25 != null, "a JDK 25 is installed");
		List<String> settings = new ArrayList<>(SETTINGS);
		settings.add("--spring.threads.virtual.enabled=true");
		String printed = run(java25, List.of(), settings);
		assertThat(printed.lines()).containsAll(EVERYTHING).contains("> billing held true on virtual");
	}

	@Test
	void scriptsAndProxiesAreKnownToANativeImage() {
		RuntimeHints hints = new RuntimeHints();
		new SingletonJobRuntimeHints().registerHints(hints, getClass().getClassLoader());
		for (String resource : List.of("fencing/schema-postgresql.sql", "postgres/schema.sql", "redis/acquire.lua")) {
			String path = "io/github/singletonjob/" + resource;
			assertThat(getClass().getClassLoader().getResource(path)).as(path).isNotNull();
			assertThat(RuntimeHintsPredicates.resource().forResource(path)).accepts(hints);
		}
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(java.sql.Connection.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(io.github.singletonjob.JobRun.class)).accepts(hints);
		assertThat(hints.reflection().getTypeHint(AbstractRoutingDataSource.class).fields()).hasSize(2);
	}

	@Test
	void methodsOfJobsCanBeCalledInANativeImage() throws IOException {
		processAheadOfTime();
		try (Stream<Path> resources = Files.walk(this.output.resolve("resources"))) {
			assertThat(resources.filter((file) -> file.toString().endsWith(".json"))).anySatisfy(
					(file) -> assertThat(file).content().contains("AheadOfTimeApplication$Billing").contains("goOn"));
		}
	}

	private void processAheadOfTime() throws IOException {
		Settings settings = Settings.builder()
			.sourceOutput(this.output.resolve("sources"))
			.resourceOutput(this.output.resolve("resources"))
			.classOutput(Files.createDirectories(this.output.resolve("classes")))
			.groupId("shop")
			.artifactId("shop")
			.build();
		new SpringApplicationAotProcessor(AheadOfTimeApplication.class, settings, SETTINGS.toArray(String[]::new))
			.process();
		compile();
	}

	private void compile() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-parameters", "-cp", classPath(),
				"-d", this.output.resolve("classes").toString()));
		try (Stream<Path> sources = Files.walk(this.output.resolve("sources"))) {
			sources.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
		}
		assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).as("compiler").isZero();
	}

	private String classPath() {
		return String.join(File.pathSeparator, this.output.resolve("classes").toString(),
				this.output.resolve("resources").toString(), System.getProperty("java.class.path"));
	}

	private String run(Path javaHome, List<String> options, List<String> arguments)
			throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(
				List.of(javaHome.resolve("bin/java").toString(), "-Xmx256m", "-cp", classPath()));
		command.addAll(options);
		command.add(AheadOfTimeApplication.class.getName());
		command.addAll(arguments);
		Path log = this.output.resolve("log");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
		try {
			boolean ended = process.waitFor(180, TimeUnit.SECONDS);
			String printed = Files.readString(log, StandardCharsets.UTF_8);
			assertThat(ended).as(printed).isTrue();
			assertThat(process.exitValue()).as(printed).isZero();
			return printed;
		}
		finally {
			process.destroyForcibly();
		}
	}

	private static Path java25() throws IOException {
		Path installed = Path.of("/usr/lib/jvm");
		if (!Files.isDirectory(installed)) {
			return null;
		}
		try (Stream<Path> homes = Files.list(installed)) {
			return homes.filter(AheadOfTimeTests::isJava25).findFirst().orElse(null);
		}
	}

	private static boolean isJava25(Path home) {
		try {
			Path release = home.resolve("release");
			return Files.exists(home.resolve("bin/java")) && Files.exists(release)
					&& Files.readString(release).contains("JAVA_VERSION=\"25");
		}
		catch (IOException ex) {
			return false;
		}
	}

}
