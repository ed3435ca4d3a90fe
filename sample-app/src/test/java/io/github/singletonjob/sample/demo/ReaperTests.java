package io.github.singletonjob.sample.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class ReaperTests {

	private static final String MARK = "a-server-of-this-test";

	private final Reaper reaper = Reaper.start();

	private Process server;

	@BeforeEach
	void startServer() throws IOException {
		this.server = sleeper(MARK);
	}

	@AfterEach
	void stopServer() {
		this.reaper.close();
		this.server.destroyForcibly();
	}

	@Test
	void killsTheServersOfALauncherThatDied() throws Exception {
		this.reaper.watch(this.server.pid(), MARK);
		this.reaper.abandon();
		assertThat(this.server.waitFor(5, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void sparesAProcessThatGotTheIdOfAServer() throws Exception {
		Process other = sleeper("something-else");
		try {
			this.reaper.watch(other.pid(), MARK);
			this.reaper.watch(this.server.pid(), MARK);
			this.reaper.abandon();
			assertThat(this.server.waitFor(5, TimeUnit.SECONDS)).isTrue();
			assertThat(other.isAlive()).isTrue();
		}
		finally {
			other.destroyForcibly();
		}
	}

	@Test
	void stopsTheDatabaseByItsFile(@TempDir Path data) throws Exception {
		Files.writeString(data.resolve("postmaster.pid"), this.server.pid() + "\n" + data + "\n");
		this.reaper.watchDatabase(data);
		this.reaper.abandon();
		assertThat(this.server.waitFor(5, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void leavesEverythingAloneAfterAnOrderlyEnd() {
		this.reaper.watch(this.server.pid(), MARK);
		this.reaper.close();
		assertThat(ProcessHandle.of(this.reaper.pid()).filter(ProcessHandle::isAlive)).isEmpty();
		assertThat(this.server.isAlive()).isTrue();
	}

	private static Process sleeper(String mark) throws IOException {
		return new ProcessBuilder("sh", "-c", "trap 'exit 1' INT; while :; do sleep 0.1; done", mark).start();
	}

}
