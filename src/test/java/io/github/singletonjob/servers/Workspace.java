package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The directory under {@code target} in which this JVM keeps the data of its servers. A
 * file lock says that its JVM lives. The first use in a JVM removes what dead ones left
 * behind, also their Postgres servers if these still run.
 */
final class Workspace {

	private static final Path ROOT = Path.of("target", "servers").toAbsolutePath();

	private static final String LOCK = "lock";

	private static final Duration CLAIM_TIMEOUT = Duration.ofMinutes(2);

	private static final AtomicInteger NUMBER = new AtomicInteger();

	private static @Nullable Workspace current;

	private final Path directory;

	/** Open, and therefore locked, until the JVM ends. */
	private final FileChannel lock;

	private Workspace(Path directory, FileChannel lock) {
		this.directory = directory;
		this.lock = lock;
	}

	/** A path that does not exist yet. */
	static Path newPath(String name) {
		return current().directory.resolve(name + "-" + NUMBER.incrementAndGet());
	}

	static void delete(Path path) {
		try (Stream<Path> paths = Files.walk(path)) {
			for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
				Files.deleteIfExists(each);
			}
		}
		catch (NoSuchFileException ex) {
			return;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Ends and deletes what JVMs that are gone have left behind. */
	static void deleteAbandoned() {
		Path own = current().directory;
		try (FileChannel guard = open(ROOT)) {
			awaitLock(guard);
			for (Path directory : children(ROOT)) {
				if (!directory.equals(own)) {
					deleteIfAbandoned(directory);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static synchronized Workspace current() {
		if (current == null) {
			current = claim();
			Runtime.getRuntime().addShutdownHook(new Thread(current::deleteDirectories, "servers-workspace"));
			deleteAbandoned();
		}
		return current;
	}

	private static Workspace claim() {
		try {
			Files.createDirectories(ROOT);
			try (FileChannel guard = open(ROOT)) {
				awaitLock(guard);
				Path directory = Files.createTempDirectory(ROOT, "jvm-");
				FileChannel lock = open(directory);
				awaitLock(lock);
				return new Workspace(directory, lock);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static FileChannel open(Path directory) throws IOException {
		return FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
	}

	/** Closing the channel frees the lock. */
	private static void awaitLock(FileChannel channel) {
		Waits.until("other JVMs have claimed their workspaces", CLAIM_TIMEOUT, () -> channel.tryLock() != null);
	}

	private static void deleteIfAbandoned(Path directory) throws IOException {
		try (FileChannel channel = open(directory)) {
			if (channel.tryLock() != null) {
				children(directory).forEach(PostgresFiles::killServer);
				delete(directory);
			}
		}
	}

	private static List<Path> children(Path directory) throws IOException {
		try (Stream<Path> paths = Files.list(directory)) {
			return paths.filter(Files::isDirectory).toList();
		}
	}

	/** Logs stay for whoever wants to read them, until the next start. */
	private void deleteDirectories() {
		try {
			for (Path data : children(this.directory)) {
				PostgresFiles.killServer(data);
				delete(data);
			}
			this.lock.close();
		}
		catch (IOException | UncheckedIOException ex) {
			System.err.println("Could not clean " + this.directory + ": " + ex);
		}
	}

}
