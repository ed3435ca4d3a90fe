package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.springframework.util.FileSystemUtils;

/**
 * The directory that a demo has for itself while it runs. A demo that was killed may have
 * left its database there, and that may still be stopping.
 */
final class StageDirectory implements AutoCloseable {

	private final Path directory;

	private final FileChannel claim;

	private StageDirectory(Path directory, FileChannel claim) {
		this.directory = directory;
		this.claim = claim;
	}

	/**
	 * Claims a directory, until it is closed or this process ends.
	 * @param directory the directory, created if it is missing
	 * @return the directory, without an old database
	 */
	static StageDirectory claim(Path directory) {
		try {
			Path absolute = Files.createDirectories(directory).toRealPath();
			FileChannel claim = FileChannel.open(absolute.resolve("claim"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE);
			if (!isFree(claim)) {
				claim.close();
				throw new IllegalStateException("Another demo runs in " + absolute
						+ ": stop it, or give this one another directory by --demo.directory=target/another");
			}
			StageDirectory stage = new StageDirectory(absolute, claim);
			stage.clear();
			return stage;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The demo cannot use the directory " + directory, ex);
		}
	}

	private static boolean isFree(FileChannel claim) throws IOException {
		try {
			return claim.tryLock() != null;
		}
		catch (OverlappingFileLockException ex) {
			return false;
		}
	}

	Path data() {
		return this.directory.resolve("data");
	}

	Path programs() {
		return this.directory.resolve("postgres");
	}

	Path leases() {
		return this.directory.resolve("leases");
	}

	Path leasesLog() {
		return this.directory.resolve("leases.log");
	}

	private void clear() throws IOException {
		Optional<ProcessHandle> old = oldPostmaster();
		if (old.isPresent()) {
			await(old.get());
		}
		FileSystemUtils.deleteRecursively(data());
		FileSystemUtils.deleteRecursively(leases());
	}

	private Optional<ProcessHandle> oldPostmaster() throws IOException {
		try {
			List<String> lines = Files.readAllLines(data().resolve("postmaster.pid"));
			return ProcessHandle.of(Long.parseLong(lines.get(0).trim())).filter(this::runsOurProgram);
		}
		catch (NoSuchFileException ex) {
			return Optional.empty();
		}
	}

	private boolean runsOurProgram(ProcessHandle process) {
		return process.info().command().filter((command) -> command.startsWith(programs().toString())).isPresent();
	}

	private void await(ProcessHandle process) {
		CompletableFuture<ProcessHandle> exit = process.onExit();
		try {
			exit.orTimeout(5, TimeUnit.SECONDS).join();
		}
		catch (RuntimeException ex) {
			process.destroyForcibly();
		}
	}

	@Override
	public void close() throws IOException {
		this.claim.close();
	}

}
