package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class LeaseServerTests {

	private final Reaper reaper = Reaper.start();

	private StageDirectory stage;

	@BeforeEach
	void claimDirectory(@TempDir Path directory) {
		this.stage = StageDirectory.claim(directory);
	}

	@AfterEach
	void close() throws IOException {
		this.reaper.close();
		this.stage.close();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRES")
	void runsUntilItIsClosedAndLeavesNoData(StoreChoice choice) {
		requireProgram(choice);
		StoreProgram program = choice.program().orElseThrow();
		LeaseServer server = LeaseServer.start(program, this.stage, this.reaper);
		ProcessHandle process = ProcessHandle.of(server.pid()).orElseThrow();
		assertThat(process.isAlive()).isTrue();
		assertThat(server.describe()).startsWith("The leases are in " + program.title() + ", process " + process.pid());
		assertThat(this.stage.leases()).isNotEmptyDirectory();
		server.close();
		assertThat(process.isAlive()).isFalse();
		assertThat(this.stage.leases()).doesNotExist();
	}

	@Test
	void thatDoesNotStartNamesItsLog() {
		assertThatIllegalStateException().isThrownBy(() -> LeaseServer.start(new Broken(), this.stage, this.reaper))
			.withMessageContaining(this.stage.leasesLog().toString());
		assertThat(this.stage.leasesLog()).content().contains("no port for me");
		assertThat(this.stage.leases()).doesNotExist();
	}

	@Test
	void missingProgramIsReportedWithItsRemedy() {
		MissingProgramException failure = new MissingProgramException("etcd", "Install it");
		assertThat(new MissingProgramFailureAnalyzer().analyze(new IllegalStateException(failure)))
			.satisfies((report) -> {
				assertThat(report.getDescription()).contains("'etcd' is not on the PATH");
				assertThat(report.getAction()).startsWith("Install it, or");
			});
	}

	@Test
	void searchPathHasNoSuchProgram() {
		assertThat(SearchPath.find("a-program-that-nobody-has")).isEmpty();
		assertThat(SearchPath.find("sh")).isPresent();
	}

	@Test
	void theDatabaseNeedsNoProgram() {
		assertThat(StoreChoice.POSTGRES.program()).isEmpty();
	}

	private static void requireProgram(StoreChoice choice) {
		assumeTrue(choice != StoreChoice.ETCD || SearchPath.find("etcd").isPresent(), "no etcd on the PATH");
	}

	/**
	 * A program that ends at once.
	 */
	private static final class Broken implements StoreProgram {

		@Override
		public String title() {
			return "broken";
		}

		@Override
		public List<String> command(Path directory, int port) {
			return List.of("sh", "-c", "echo no port for me; exit 1");
		}

		@Override
		public Map<String, String> settings(int port) {
			return Map.of();
		}

		@Override
		public boolean answers(int port) {
			return false;
		}

	}

}
