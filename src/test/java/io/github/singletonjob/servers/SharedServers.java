package io.github.singletonjob.servers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.containers.wait.strategy.WaitStrategy;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.utility.DockerImageName;

/**
 * Servers that tests only talk to, so that it does not matter where they run: in a
 * container of Testcontainers if a Docker engine answers on this machine's socket and has
 * the image or can get it, otherwise as a process of this machine. Says once for each
 * which it is. Tests that freeze or kill a server take a process.
 */
public final class SharedServers {

	/** The ports of an engine elsewhere are not on the loopback interface. */
	private static final Path SOCKET = Path.of("/var/run/docker.sock");

	private static final int SECONDS_TO_FETCH = 60;

	private static final SharedServers ofThisJvm = new SharedServers(SharedServers::startContainer,
			System.out::println);

	private final ToIntFunction<ServerImage> container;

	private final Consumer<String> output;

	private final Map<ServerImage, Integer> ports = new EnumMap<>(ServerImage.class);

	SharedServers(ToIntFunction<ServerImage> container, Consumer<String> output) {
		this.container = container;
		this.output = output;
	}

	/**
	 * The server that the tests of this JVM share; it runs until the JVM ends.
	 * @param image what is wanted
	 * @param process starts the same as a process, if there is none yet
	 * @return its port on the loopback interface
	 */
	public static int port(ServerImage image, IntSupplier process) {
		return ofThisJvm.portOf(image, process);
	}

	synchronized int portOf(ServerImage image, IntSupplier process) {
		Integer known = this.ports.get(image);
		if (known != null) {
			return known;
		}
		int port = start(image, process);
		this.ports.put(image, port);
		return port;
	}

	private int start(ServerImage image, IntSupplier process) {
		try {
			int port = this.container.applyAsInt(image);
			this.output
				.accept("%s for tests: container of %s at 127.0.0.1:%d".formatted(image, image.reference(), port));
			return port;
		}
		catch (RuntimeException ex) {
			int port = process.getAsInt();
			this.output.accept("%s for tests: process of this machine at 127.0.0.1:%d (%s)".formatted(image, port,
					ex.getMessage()));
			return port;
		}
	}

	/**
	 * Whether containers can be started here.
	 * @param image what they would run
	 * @return whether an engine answers and has the image or can get it
	 */
	public static boolean hasContainersOf(ServerImage image) {
		try {
			requireContainersOf(image);
			return true;
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	private static void requireContainersOf(ServerImage image) {
		if (!Files.exists(SOCKET) || !DockerClientFactory.instance().isDockerAvailable()) {
			throw new IllegalStateException("no container engine answers");
		}
		try {
			new RemoteDockerImage(DockerImageName.parse(image.reference())).get(SECONDS_TO_FETCH, TimeUnit.SECONDS);
		}
		catch (TimeoutException | RuntimeException ex) {
			throw new IllegalStateException("the container engine cannot get " + image.reference() + ": " + ex, ex);
		}
	}

	@SuppressWarnings("resource") // ends with the JVM, by what Testcontainers does
	private static int startContainer(ServerImage image) {
		requireContainersOf(image);
		GenericContainer<?> container = new GenericContainer<>(image.reference())
			.withCommand(image.command().toArray(String[]::new))
			.withEnv(Map.of("POSTGRES_HOST_AUTH_METHOD", "trust"))
			.withExposedPorts(image.port())
			.waitingFor(readiness(image));
		container.start();
		if (!container.getHost().equals("localhost")) {
			container.stop();
			throw new IllegalStateException("its ports are at " + container.getHost());
		}
		return container.getMappedPort(image.port());
	}

	private static WaitStrategy readiness(ServerImage image) {
		return switch (image) {
			// The first time it is ready is for its own preparations
			case POSTGRES -> Wait.forLogMessage(".*ready to accept connections.*", 2);
			case REDIS -> Wait.forLogMessage(".*Ready to accept connections.*", 1);
			case ETCD -> Wait.forHttp("/health").forPort(image.port());
		};
	}

}
