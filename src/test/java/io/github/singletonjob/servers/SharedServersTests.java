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

	private final List<ServerImage> asked = new ArrayList<>();

	private final List<String> output = new ArrayList<>();

	private boolean engine = true;

	private final SharedServers servers = new SharedServers(this::startContainer, this.output::add);

	@Test
	void areContainersWhereAnEngineStartsThem() {
		assertThat(port()).isEqualTo(CONTAINER);
		assertThat(this.output).containsExactly("REDIS for tests: container of redis:7.2-alpine at 127.0.0.1:1");
	}

	@Test
	void areProcessesOtherwise() {
		this.engine = false;
		assertThat(port()).isEqualTo(PROCESS);
		assertThat(this.output)
			.containsExactly("REDIS for tests: process of this machine at 127.0.0.1:2 (no container engine answers)");
	}

	@Test
	void areStartedAndReportedOnce() {
		assertThat(port()).isEqualTo(port());
		assertThat(this.output).hasSize(1);
		assertThat(this.asked).containsExactly(ServerImage.REDIS);
	}

	@Test
	void areStartedSeparately() {
		port();
		this.servers.portOf(ServerImage.ETCD, () -> PROCESS);
		assertThat(this.output).extracting((line) -> line.substring(0, 5)).containsExactly("REDIS", "ETCD ");
	}

	private int port() {
		return this.servers.portOf(ServerImage.REDIS, () -> PROCESS);
	}

	private int startContainer(ServerImage image) {
		this.asked.add(image);
		if (!this.engine) {
			throw new IllegalStateException("no container engine answers");
		}
		return CONTAINER;
	}

}
