package io.github.singletonjob.servers;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import redis.embedded.RedisServer;

/**
 * The program {@code redis-server}: that of the machine, or else the one that comes with
 * the library embedded-redis.
 */
final class RedisProgram {

	private static @Nullable String path;

	private RedisProgram() {
	}

	static synchronized String path() {
		if (path == null) {
			path = installed().orElseGet(RedisProgram::unpacked);
		}
		return path;
	}

	private static Optional<String> installed() {
		return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
			.filter((directory) -> !directory.isEmpty())
			.map((directory) -> Path.of(directory, "redis-server"))
			.filter(Files::isExecutable)
			.map(Path::toString)
			.findFirst();
	}

	private static String unpacked() {
		String architecture = "aarch64".equals(System.getProperty("os.arch")) ? "arm64" : "amd64";
		Path program = Workspace.newPath("redis-server");
		try (InputStream packed = RedisServer.class.getResourceAsStream("/redis-server-7.0.15-linux-" + architecture)) {
			if (packed == null) {
				throw new IllegalStateException("No redis-server for " + architecture + ": install redis-server");
			}
			Files.copy(packed, program);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		if (!program.toFile().setExecutable(true)) {
			throw new IllegalStateException("Cannot make executable: " + program);
		}
		return program.toString();
	}

}
