package io.github.singletonjob.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Starts a process that answers to JDBC.
 */
final class DatabaseProcess {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private DatabaseProcess() {
	}

	/**
	 * Starts the process and returns when it answers.
	 * @param command program and arguments
	 * @param lastSignal what ends it when this JVM is gone
	 * @param log where its output goes
	 * @param jdbcUrl where it will answer
	 * @return the process
	 */
	static OwnedProcess start(List<String> command, String lastSignal, Path log, String jdbcUrl) {
		ProcessBuilder.Redirect output = ProcessBuilder.Redirect.appendTo(log.toFile());
		OwnedProcess process = OwnedProcess.start(command, lastSignal, (builder) -> builder.redirectOutput(output));
		try {
			Waits.until("an answer from " + jdbcUrl, TIMEOUT, () -> answers(process, log, jdbcUrl));
			return process;
		}
		catch (RuntimeException ex) {
			process.close();
			throw ex;
		}
	}

	private static boolean answers(OwnedProcess process, Path log, String jdbcUrl) {
		if (!process.isAlive()) {
			throw new IllegalStateException("Did not start: " + read(log));
		}
		try (Connection connection = PostgresServer.connect(jdbcUrl + "?connectTimeout=2&socketTimeout=5")) {
			return connection.isValid(1);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static String read(Path log) {
		try {
			return Files.readString(log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
