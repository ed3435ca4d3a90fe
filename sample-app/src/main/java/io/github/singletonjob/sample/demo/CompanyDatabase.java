package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * The company's Postgres: a child process on the loopback address, with its data in the
 * directory of the demo.
 */
final class CompanyDatabase implements ServerSettings, AutoCloseable {

	private static final String OWNER = "postgres";

	private static final String NAME = "postgres";

	private final EmbeddedPostgres postgres;

	private CompanyDatabase(EmbeddedPostgres postgres) {
		this.postgres = postgres;
	}

	/**
	 * Starts an empty database.
	 * @param directory where to keep it
	 * @return the running database
	 */
	static CompanyDatabase start(StageDirectory directory) {
		try {
			return new CompanyDatabase(EmbeddedPostgres.builder()
				.setOverrideWorkingDirectory(directory.programs().toFile())
				.setDataDirectory(directory.data())
				.setCleanDataDirectory(true)
				.setRegisterShutdownHook(false)
				.setPGStartupWait(Duration.ofSeconds(60))
				.setLocaleConfig("locale", "C")
				.setServerConfig("listen_addresses", "127.0.0.1")
				.setServerConfig("unix_socket_directories", "''")
				// Off by default in this distribution for tests; a company wants its
				// commits to last.
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on")
				.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Postgres did not start in " + directory.data(), ex);
		}
	}

	DataSource dataSource() {
		return this.postgres.getDatabase(OWNER, NAME);
	}

	private String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.postgres.getPort() + "/" + NAME;
	}

	String urlWithUser() {
		return url() + "?user=" + OWNER;
	}

	@Override
	public Map<String, String> settings() {
		return Map.of("SPRING_DATASOURCE_URL", url(), "SPRING_DATASOURCE_USERNAME", OWNER);
	}

	@Override
	public void close() throws IOException {
		this.postgres.close();
	}

}
