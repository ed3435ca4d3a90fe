package io.github.singletonjob.servers;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Servers that tests only talk to, so that it does not matter where they run: in a
 * container if an engine answers and has the image or can get it, otherwise as a process
 * of this machine. Says once for each which it is. Tests that freeze or kill a server
 * take a process.
 */
public final class SharedServers {

	private static final SharedServers ofThisJvm = new SharedServers(new DockerEngine(), System.out::println);

	private final ContainerEngine engine;

	private final Consumer<String> output;

	private final Map<ServerImage, Integer> ports = new EnumMap<>(ServerImage.class);

	SharedServers(ContainerEngine engine, Consumer<String> output) {
		this.engine = engine;
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

	/**
	 * Whether containers can be started here.
	 * @param image what they would run
	 * @return whether an engine answers and has the image or can get it
	 */
	public static boolean hasContainersOf(ServerImage image) {
		return ofThisJvm.engine.answers() && ofThisJvm.engine.obtains(image);
	}

	synchronized int portOf(ServerImage image, IntSupplier process) {
		Integer known = this.ports.get(image);
		if (known != null) {
			return known;
		}
		int port = choose(image, process);
		this.ports.put(image, port);
		return port;
	}

	private int choose(ServerImage image, IntSupplier process) {
		if (!this.engine.answers()) {
			return startProcess(image, process, "no container engine answers");
		}
		if (!this.engine.obtains(image)) {
			return startProcess(image, process, "the container engine cannot get " + image.reference());
		}
		try {
			int port = this.engine.start(image);
			this.output
				.accept("%s for tests: container of %s at 127.0.0.1:%d".formatted(image, image.reference(), port));
			return port;
		}
		catch (RuntimeException ex) {
			return startProcess(image, process, "no container of " + image.reference() + " started: " + ex);
		}
	}

	private int startProcess(ServerImage image, IntSupplier process, String reason) {
		int port = process.getAsInt();
		this.output.accept("%s for tests: process of this machine at 127.0.0.1:%d (%s)".formatted(image, port, reason));
		return port;
	}

}
