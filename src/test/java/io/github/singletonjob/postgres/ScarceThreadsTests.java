package io.github.singletonjob.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The thread of a lease session cannot be created, in a process with little address
 * space.
 */
@Timeout(120)
class ScarceThreadsTests {

	private static final String NO_THREAD = "io.github.singletonjob.lease.LeaseStoreException: No thread could be created";

	private static final String NO_SERVER = "io.github.singletonjob.lease.LeaseStoreException: No lease session could";

	private static final String COMMAND = "ulimit -v 3000000; exec \"$JAVA\" -Xmx64m -Xss1m -XX:+UseSerialGC"
			+ " -XX:ReservedCodeCacheSize=32m -XX:MaxMetaspaceSize=96m -XX:CompressedClassSpaceSize=32m -cp \"$CP\" ";

	@Test
	void aThreadThatCouldNotBeCreatedOnceBlocksNoJob(@TempDir Path directory) throws Exception {
		String output = run(directory.resolve("out"));
		assumeThat(output).as("no thread could be created").contains("FIRST").doesNotContain("FIRST " + NO_SERVER);
		assertThat(output).contains("FIRST " + NO_THREAD)
			.contains("SAME JOB " + NO_SERVER)
			.contains("OTHER JOB " + NO_SERVER);
	}

	private static String run(Path out) throws IOException, InterruptedException {
		ProcessBuilder builder = new ProcessBuilder("bash", "-c", COMMAND + ScarceThreads.class.getName())
			.redirectErrorStream(true)
			.redirectOutput(out.toFile());
		builder.environment().put("JAVA", Path.of(System.getProperty("java.home"), "bin", "java").toString());
		builder.environment().put("CP", System.getProperty("java.class.path"));
		Process process = builder.start();
		try {
			assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		return Files.readString(out, StandardCharsets.UTF_8);
	}

}
