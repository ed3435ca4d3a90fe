package io.github.singletonjob.servers;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where servers come from.
 */
class SharedServersTests {

	private static final int CONTAINER = 1;

	private static final int PROCESS = 2;

	private final FakeEngine engine = new FakeEngine();

	private final List<String> output = new ArrayList<>();

	private final SharedServers servers = new SharedServers(this.engine, this.output::add);

	@Test
	void areContainersWhereAnEngineHasTheImage() {
		assertThat(port()).isEqualTo(CONTAINER);
		assertThat(this.output).containsExactly("REDIS for tests: container of redis:7.2-alpine at 127.0.0.1:1");
	}

	@Test
	void areProcessesWithoutAnEngine() {
		this.engine.answers = false;
		assertThat(port()).isEqualTo(PROCESS);
		assertThat(this.output)
			.containsExactly("REDIS for tests: process of this machine at 127.0.0.1:2 (no container engine answers)");
		assertThat(this.engine.asked).containsExactly("answers");
	}

	@Test
	void areProcessesWithoutTheImage() {
		this.engine.obtains = false;
		assertThat(port()).isEqualTo(PROCESS);
		assertThat(this.output).singleElement()
			.asString()
			.endsWith("(the container engine cannot get redis:7.2-alpine)");
		assertThat(this.engine.asked).containsExactly("answers", "obtains");
	}

	@Test
	void areProcessesIfTheContainerDoesNotStart() {
		this.engine.starts = false;
		assertThat(port()).isEqualTo(PROCESS);
		assertThat(this.output).singleElement().asString().contains("no container of redis:7.2-alpine started: ");
	}

	@Test
	void areChosenAndToldOnce() {
		assertThat(port()).isEqualTo(port());
		assertThat(this.output).hasSize(1);
		assertThat(this.engine.asked).containsExactly("answers", "obtains", "start");
	}

	@Test
	void areChosenEachByItself() {
		port();
		this.servers.portOf(ServerImage.ETCD, () -> PROCESS);
		assertThat(this.output).extracting((line) -> line.substring(0, 5)).containsExactly("REDIS", "ETCD ");
	}

	private int port() {
		return this.servers.portOf(ServerImage.REDIS, () -> PROCESS);
	}

	/**
	 * An engine that can do what a test wants.
	 */
	private static final class FakeEngine implements ContainerEngine {

		private final List<String> asked = new ArrayList<>();

		private boolean answers = true;

		private boolean obtains = true;

		private boolean starts = true;

		@Override
		public boolean answers() {
			this.asked.add("answers");
			return this.answers;
		}

		@Override
		public boolean obtains(ServerImage image) {
			this.asked.add("obtains");
			return this.obtains;
		}

		@Override
		public int start(ServerImage image) {
			this.asked.add("start");
			if (!this.starts) {
				throw new IllegalStateException("no room");
			}
			return CONTAINER;
		}

	}

}
