package io.github.singletonjob.servers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.containers.wait.strategy.WaitStrategy;

/**
 * The Docker engine of this machine. One that is reached over a network is none for us:
 * the ports of its containers are not on the loopback interface.
 */
final class DockerEngine implements ContainerEngine {

	private static final String UNIX = "unix://";

	private static final Duration TIME_FOR_AN_ANSWER = Duration.ofSeconds(2);

	private static final Duration TIME_TO_FETCH = Duration.ofSeconds(60);

	private final @Nullable DockerSocket socket;

	DockerEngine() {
		this(System.getenv().getOrDefault("DOCKER_HOST", UNIX + "/var/run/docker.sock"));
	}

	DockerEngine(String address) {
		this.socket = address.startsWith(UNIX) ? new DockerSocket(Path.of(address.substring(UNIX.length()))) : null;
	}

	@Override
	public boolean answers() {
		return agrees("GET /_ping", TIME_FOR_AN_ANSWER);
	}

	@Override
	public boolean obtains(ServerImage image) {
		return has(image) || (fetches(image) && has(image));
	}

	private boolean has(ServerImage image) {
		return agrees("GET /images/" + image.reference() + "/json", TIME_FOR_AN_ANSWER);
	}

	private boolean fetches(ServerImage image) {
		return agrees("POST /images/create?fromImage=" + image.reference().replace(":", "&tag="), TIME_TO_FETCH);
	}

	private boolean agrees(String request, Duration atMost) {
		return this.socket != null && this.socket.agrees(request, atMost);
	}

	@Override
	@SuppressWarnings("resource") // ends with the JVM, by what Testcontainers does
	public int start(ServerImage image) {
		GenericContainer<?> container = new GenericContainer<>(image.reference())
			.withCommand(image.command().toArray(String[]::new))
			.withEnv(Map.of("POSTGRES_HOST_AUTH_METHOD", "trust"))
			.withExposedPorts(image.port())
			.waitingFor(readiness(image));
		container.start();
		if (!container.getHost().equals("localhost")) {
			container.stop();
			throw new IllegalStateException("Its ports are at " + container.getHost());
		}
		return container.getMappedPort(image.port());
	}

	private static WaitStrategy readiness(ServerImage image) {
		return switch (image) {
			// The first time it is ready is for its own preparations.
			case POSTGRES -> Wait.forLogMessage(".*ready to accept connections.*", 2);
			case REDIS -> Wait.forLogMessage(".*Ready to accept connections.*", 1);
			case ETCD -> Wait.forHttp("/health").forPort(image.port());
		};
	}

}
